"""Spark: fit and score its data frames in the executors. Needs ``pip install 'vecuq[spark]'`` and Java."""

from lazy_loader import attach_stub

# The names, and where they are defined, stand in the stub beside this file; pyspark is imported when one is called.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
