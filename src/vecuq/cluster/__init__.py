"""Fit and score where the rows lie: on a cluster, or on all cores of one machine. Each engine is an extra.

``vecuq.cluster.dask`` needs ``pip install 'vecuq[dask]'``.
"""

from lazy_loader import attach_stub

# The stub beside this file lists the engines; each is imported on first use, and its package when it starts to work.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
