"""A client of the scoring service. Needs ``pip install 'vecuq[serve]'``."""

from lazy_loader import attach_stub

from vecuq._removed import refuse

# The stub beside this file lists the names; httpx is imported when a client is made.
_attached, __dir__, __all__ = attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    refuse(__name__, name)
    return _attached(name)
