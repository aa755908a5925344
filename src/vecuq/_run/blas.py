"""One BLAS thread while anybody needs it, and afterwards as many as before.

In most builds of OpenBLAS the number of threads belongs to the whole process. Whoever comes first sets it to 1, and
whoever leaves last sets it back, whichever thread that is. threadpoolctl cannot do this: since 3.8 it ignores every
thread but the first that set a number, and before 3.5 it does not see the OpenBLAS in the wheels of NumPy 2 and SciPy.
So these are called directly, and threadpoolctl finds the other libraries, such as MKL, where each thread has a number
of its own.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from itertools import product
from threading import Lock, Thread
from typing import Any

from threadpoolctl import ThreadpoolController

# Modules that are linked with the BLAS of NumPy and SciPy; what they are linked with is found through them.
_LINKED = ("numpy._core._multiarray_umath", "numpy.core._multiarray_umath", "scipy.linalg._fblas")
_OPENMP = 2  # what openblas_get_parallel returns for a build on OpenMP


@dataclass(eq=False)
class _Library:
    """A loaded BLAS: how many threads it uses, and whether all threads share this number; None if not known yet."""

    get: Callable[[], int]
    put: Callable[[int], object]
    shared: bool | None = None

    def is_shared(self) -> bool:
        """Whether a number that one thread sets holds for all. To see it, another thread sets 1."""
        if self.shared is None:
            other = Thread(target=self.put, args=(1,))
            other.start()
            other.join()
            self.shared = self.get() == 1
        return self.shared


class _Cap:
    """One BLAS thread while anybody is inside."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.inside: set[object] = set()
        # What the libraries get back whose number all threads share.
        self.before: dict[_Library, int] = {}
        self.libraries: list[_Library] = []
        self.n_modules = 0

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the cap; may be entered by many threads at once, and again by those inside."""
        me, own = object(), list[tuple[_Library, int]]()
        try:
            self._enter(me, own)
            yield
        finally:
            self._leave(me, own)

    def _enter(self, me: object, own: list[tuple[_Library, int]]) -> None:
        with self.lock:
            self.inside.add(me)
            self._look_for_new_libraries()
            for library in self.libraries:
                number = library.get()
                if number == 1:
                    continue
                # Not only the first one inside looks: the host may have set another number meanwhile.
                if library.is_shared():
                    self.before[library] = number
                else:
                    own.append((library, number))
                library.put(1)

    def _leave(self, me: object, own: list[tuple[_Library, int]]) -> None:
        with self.lock:
            self.inside.discard(me)
            for library, number in own:
                library.put(number)
            if self.inside:
                return
            for library, number in self.before.items():
                if library.get() == 1:  # else the host has set another number meanwhile, which stays
                    library.put(number)
            self.before.clear()

    def _look_for_new_libraries(self) -> None:
        """Search again after every import: SciPy brings its own BLAS, and is imported late."""
        if self.n_modules != len(sys.modules):
            known = {_address(library): library for library in self.libraries}
            self.libraries = [known.get(_address(found), found) for found in _loaded_libraries()]
            self.n_modules = len(sys.modules)

    def forget_others(self) -> None:
        """In a forked process no other thread exists any more, and the lock may be one that they held."""
        self.lock = Lock()
        self.inside.clear()


def _loaded_libraries() -> list[_Library]:
    """Return every BLAS in this process, once."""
    modules = (sys.modules[name] for name in _LINKED if name in sys.modules)
    found = [_openblas(str(getattr(module, "__file__", None))) for module in modules]
    found += [_controlled(one) for one in ThreadpoolController().lib_controllers if one.user_api == "blas"]
    return list({_address(library): library for library in found if library is not None}.values())


def _controlled(controller: Any) -> _Library:
    """Return a library that threadpoolctl has found."""
    direct = _openblas(controller.filepath) if controller.internal_api == "openblas" else None
    # On OpenMP every thread has its number, although some versions of OpenBLAS report one for all.
    shared = False if getattr(controller, "threading_layer", None) == "openmp" else None
    return direct or _Library(controller.get_num_threads, controller.set_num_threads, shared)


def _openblas(file: str) -> _Library | None:
    """Return the OpenBLAS that a loaded file is, or is linked with; None if it has none, or one on OpenMP."""
    with suppress(OSError):
        library = ctypes.CDLL(file)
        for start, end in product(("", "scipy_"), ("", "64_", "_64")):
            get = getattr(library, f"{start}openblas_get_num_threads{end}", None)
            put = getattr(library, f"{start}openblas_set_num_threads{end}", None)
            layer = getattr(library, f"{start}openblas_get_parallel{end}", int)
            if get and put and layer() != _OPENMP:
                return _Library(get, put, shared=True)
    return None


def _address(library: _Library) -> object:
    """Return what distinguishes a library: its function in memory, or the controller that has the method."""
    with suppress(ctypes.ArgumentError):
        return ctypes.cast(library.get, ctypes.c_void_p).value  # type: ignore[arg-type]
    return getattr(getattr(library.get, "__self__", None), "filepath", library.get)


_CAP = _Cap()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_CAP.forget_others)


def one_blas_thread() -> AbstractContextManager[None]:
    """Keep BLAS to one thread: small products are faster, and round alike on every machine of a kind.

    The host's number comes back when the last call is done. A thread of the host that reads the number in between, to
    restore it later, reads 1: threadpoolctl does this too among its own users.
    """
    return _CAP.held()
