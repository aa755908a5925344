"""Every public name of vecuq: the rooms that its stub lists, what each exports, and what kind of thing that is."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType, GenericAlias, ModuleType
from typing import Any


@dataclass(frozen=True)
class Public:
    """One public name: where it is found, and what it is."""

    module: str
    name: str
    kind: str  # "class", "function" or "data"
    value: Any = None

    @property
    def path(self) -> str:
        """The name as one writes it, such as ``vecuq.gate.Gate``."""
        return f"{self.module}.{self.name}"


def room_names() -> list[str]:
    """Return the dotted names of all public rooms, ``vecuq`` first, a room before the rooms in it."""
    found = ["vecuq"]
    for room in found:
        module = importlib.import_module(room)
        found += [f"{room}.{name}" for name in exported(module) if _is_room(room, name)]
    return sorted(found)


def exported(module: ModuleType) -> list[str]:
    """Return the names a module offers: its ``__all__``, or else what it defines itself."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return list(listed)
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]


def public_names(room: str) -> list[Public]:
    """Return what a room exports besides other rooms, sorted; what needs a package that is absent is there too."""
    module = importlib.import_module(room)
    names = [name for name in exported(module) if not _is_room(room, name) and name != "__version__"]
    return sorted((_described(module, name) for name in names), key=lambda one: one.name.lower())


def own_members(kind: type) -> list[str]:
    """Return the documented public members of a class that vecuq defines, in the order of their definition."""
    found: dict[str, None] = {}
    for base in kind.__mro__:
        if base.__module__.partition(".")[0] == "vecuq":
            found |= {name: None for name, value in vars(base).items() if _is_documented(name, value)}
    return list(found)


def _is_documented(name: str, value: Any) -> bool:
    made = isinstance(value, FunctionType | property | cached_property | classmethod | staticmethod)
    return made and not name.startswith("_") and bool(inspect.getdoc(value))


def _is_room(room: str, name: str) -> bool:
    """Whether a name of a room is a module; a function may have the name of the module that defines it."""
    return isinstance(_value(importlib.import_module(room), name), ModuleType)


def _value(module: ModuleType, name: str) -> Any:
    """Return the value of a name; None if the package that it adapts is not installed."""
    try:
        return getattr(module, name)
    except ImportError:
        return None


def _described(module: ModuleType, name: str) -> Public:
    value = _value(module, name)
    if value is None:
        kind = "class" if name[0].isupper() else "function"
    elif inspect.isclass(value) and not isinstance(value, GenericAlias):
        kind = "class"
    else:
        kind = "function" if inspect.isroutine(value) else "data"
    return Public(module.__name__, name, kind, value)
