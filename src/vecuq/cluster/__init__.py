"""Fit and score where the rows are: on an engine that spreads them over processes and machines."""

from lazy_loader import attach_stub

# The stub beside this file lists the engines; none is imported, nor needed, before its first use.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
