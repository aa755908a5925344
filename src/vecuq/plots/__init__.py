"""Pictures of labels and gates: each function draws on matplotlib Axes and returns them."""

from lazy_loader import attach_stub

from vecuq._removed import refuse

# The names, and where they are defined, stand in the stub beside this file; each is imported on first use.
_attached, __dir__, __all__ = attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    refuse(__name__, name)
    return _attached(name)
