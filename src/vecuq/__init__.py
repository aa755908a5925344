"""vecuq: many uncertainty scores, one order."""


def __getattr__(name: str) -> object:
    """Attach the public names on first use; the stub beside this file says where each is defined.

    Not on import, which `vecuq` on the command line waits for before it can hear an interrupt.
    """
    from lazy_loader import attach_stub

    here = globals()
    here["__getattr__"], here["__dir__"], here["__all__"] = attach_stub(__name__, __file__)
    return here["__all__"] if name == "__all__" else here["__getattr__"](name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__getattr__("__all__"))  # type: ignore[call-overload]
