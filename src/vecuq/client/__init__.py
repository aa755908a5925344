"""A client of the scoring service, to be called plainly or with await. Needs ``pip install 'vecuq[serve]'``."""

from lazy_loader import attach_stub

# The stub beside this file lists the names; httpx is imported when a client is made.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
