"""The scoring service: a saved model, gate or pipeline behind HTTP, with feedback and a page to work in."""

from lazy_loader import attach_stub

# The stub beside this file lists the names; FastAPI and uvicorn are imported on first use only.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
