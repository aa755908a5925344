"""What a service keeps: scored rows, feedback, live gates and monitors, in one SQLite file that one process owns."""

from lazy_loader import attach_stub

# The stub beside this file lists the names; each is imported on first use.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
