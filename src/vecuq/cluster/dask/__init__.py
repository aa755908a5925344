"""Dask: fit and score its frames, and part files, on its workers. Needs ``pip install 'vecuq[dask]'``."""

from lazy_loader import attach_stub

# The names, and where they are defined, stand in the stub beside this file; Dask is imported when one is called.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
