"""Pictures of labels and gates: each function draws on matplotlib Axes and returns them."""

from lazy_loader import attach_stub

# The names, and where they are defined, stand in the stub beside this file; each is imported on first use.
_attached, __dir__, __all__ = attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    if name not in __all__:
        from vecuq._removed import absent

        raise absent(__name__, name)
    return _attached(name)
