"""The one place that decides: what is known of rows, which of them are accepted, and why others are refused."""

from lazy_loader import attach_stub

# The names, and where they are defined, stand in the stub beside this file; each is imported on first use.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
