"""A client of the scoring service. Needs ``pip install 'vecuq[serve]'``."""

from lazy_loader import attach_stub

# The stub beside this file lists the names; httpx is imported when a client is made.
_attached, __dir__, __all__ = attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    if name not in __all__:
        from vecuq._removed import absent

        raise absent(__name__, name)
    return _attached(name)
