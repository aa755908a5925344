"""Outputs or answers of a model in, one uncertainty and a decision per row out; one saved file."""

from lazy_loader import attach_stub

# The names, and where they are defined, stand in the stub beside this file; each is imported on first use.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
