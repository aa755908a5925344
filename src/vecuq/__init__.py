"""vecuq: many uncertainty scores, one order."""


def __getattr__(name: str) -> object:
    """Attach the public names on first use; the stub beside this file says where each is defined.

    Not on import, which `vecuq` on the command line waits for before it can hear an interrupt.
    """
    from lazy_loader import attach_stub

    here = globals()
    attached, here["__dir__"], here["__all__"] = attach_stub(__name__, __file__)

    def found(name: str) -> object:
        if name not in here["__all__"]:
            from vecuq._removed import NAMES

            if name in NAMES:
                raise AttributeError(f"vecuq.{name} was removed: {NAMES[name]}", name=name)
        return attached(name)

    here["__getattr__"] = found
    return here["__all__"] if name == "__all__" else found(name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__getattr__("__all__"))  # type: ignore[call-overload]
