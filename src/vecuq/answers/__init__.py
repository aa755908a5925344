"""Answers of a language model: the record, readers of every known format, and asking a model."""

from lazy_loader import attach_stub

# The stub beside this file lists the public names; each is imported on first use.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
