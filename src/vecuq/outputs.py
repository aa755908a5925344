"""ClassifierOutputs: what a classifier or an ensemble said of some rows, as it came from the model."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vecuq._check import Array, existing_file, in_range, one_line, shape_of, warn_user
from vecuq._files import load_arrays
from vecuq.errors import TableError, VecuqWarning

# Entries of one block of (members, rows, classes): a measure makes several copies, small enough for caches.
_BLOCK_ENTRIES = 200_000
# Logarithm of the smallest positive float64: a probability of exactly 0 counts as that, so that no risk is infinite.
LEAST_LOG = -745.0
# What logits may be divided by: far beyond any use, and no logit of a model overflows.
TEMPERATURES = (1e-6, 1e6)
# No ensemble that is measured row by row has more members.
_MANY_MEMBERS = 50
_AXES = "The axes must be (members, rows, classes): np.swapaxes(logits, 0, 1) exchanges the first two."


def rows_per_block(n_members: int, n_classes: int) -> int:
    """Return how many rows of an ensemble's outputs are worked on at once."""
    return max(1, _BLOCK_ENTRIES // (n_members * n_classes))


@dataclass(frozen=True, eq=False)
class ClassifierOutputs:
    """Logits or probabilities per member, and whatever embeddings, labels and ids came along.

    Build it with :meth:`of` from arrays, or with :func:`vecuq.read_outputs` from files. Arrays are never copied as a
    whole: memory-mapped ones are read block by block.

    Parameters
    ----------
    members
        One array (rows, classes) per member of the ensemble.
    are_probabilities
        Whether the members hold probabilities rather than logits.
    embeddings
        (rows, d) or (members, rows, d), or None.
    labels, ids
        One per row, or None.
    temperature
        What logits are divided by, 1e-6 to 1e6.
    """

    members: tuple[Any, ...]
    are_probabilities: bool = False
    embeddings: Any = None
    labels: Any = None
    ids: Any = None
    temperature: float = 1.0

    @staticmethod
    def of(
        *,
        logits: Any = None,
        probs: Any = None,
        embeddings: Any = None,
        labels: Any = None,
        ids: Any = None,
        temperature: float = 1.0,
    ) -> ClassifierOutputs:
        """Check and keep arrays; logits or probs are (rows, classes), (members, rows, classes) or a list of members.

        Examples
        --------
        >>> outputs = ClassifierOutputs.of(logits=np.zeros((5, 100, 10)), labels=np.zeros(100))
        >>> len(outputs.members), outputs.n_rows, outputs.n_classes
        (5, 100, 10)
        """
        if (logits is None) == (probs is None):
            raise TableError("Give either logits or probs, and not both.")
        in_range("temperature", temperature, *TEMPERATURES, ends="[]")
        made = ClassifierOutputs(
            _split_members(probs if logits is None else logits),
            logits is None,
            None if embeddings is None else as_numbers(embeddings),
            None if labels is None else np.asarray(labels),
            None if ids is None else np.asarray(ids),
            temperature,
        )
        made._check_lengths()
        made._warn_suspicious()
        return made

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.members[0].shape[0])

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.members[0].shape[1])

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Yield spans of rows with their logits, (members, rows, classes), float64, divided by the temperature."""
        size = rows_per_block(len(self.members), self.n_classes)
        for start in range(0, max(self.n_rows, 1), size):
            span = slice(start, min(start + size, self.n_rows))
            yield span, np.stack([self.logits_of(member, span) for member in range(len(self.members))])

    def logits_of(self, member: int, span: slice) -> Array:
        """Return the logits of one member on a span of rows, float64, divided by the temperature."""
        part = np.asarray(self.members[member][span], dtype=float)
        return (_logs(part, span.start or 0) if self.are_probabilities else part) / self.temperature

    def logits_as_embeddings(self) -> list[Any]:
        """Return the logits of each member as an array that is read when it is needed."""
        return [_MemberLogits(self, member) for member in range(len(self.members))]

    def _check_lengths(self) -> None:
        shapes = {member.shape for member in self.members}
        if len(shapes) > 1:
            raise TableError(f"All members must have the same (rows, classes); got {sorted(shapes)}.")
        for name in ("labels", "ids"):
            value = getattr(self, name)
            if value is not None and value.shape != (self.n_rows,):
                raise TableError(
                    f"`{name}` must have one entry per row, {self.n_rows:,}; got {shape_of(value)}."
                    f"{self._axes_hint(value.shape[:1])}"
                )
        shape = (0, self.n_rows) if self.embeddings is None else self.embeddings.shape
        if self.embeddings is not None and (len(shape) not in (2, 3) or shape[-2] != self.n_rows):
            raise TableError(
                f"`embeddings` must have shape ({self.n_rows:,}, d) or (members, {self.n_rows:,}, d); "
                f"got {shape_of(self.embeddings)}.{self._axes_hint(shape[-2:-1])}"
            )

    def _axes_hint(self, found: tuple[int, ...]) -> str:
        """Return a hint if there is something for each of what is taken for members."""
        return f" Perhaps the outputs are (rows, members, classes). {_AXES}" if found == (len(self.members),) else ""

    def _warn_suspicious(self) -> None:
        """Warn of arrays that are probably something else than their name or shape says."""
        n_members = len(self.members)
        if n_members > _MANY_MEMBERS and n_members > 4 * self.n_rows:
            _warn_axes(self)
        first = np.asarray(self.members[0][:100], dtype=float)
        if self.are_probabilities or first.shape[1] < 2 or not first.size:
            return
        if first.min() >= 0 and (np.abs(first.sum(axis=1) - 1.0) < 1e-3).all():
            _warn("The logits look like probabilities: none is negative and each row sums to 1. Name them `probs`.")


def _warn_axes(outputs: ClassifierOutputs) -> None:
    _warn(f"{len(outputs.members):,} members and only {outputs.n_rows:,} rows? {_AXES}")


def _warn(what: str) -> None:
    warn_user(what, VecuqWarning)


@dataclass(frozen=True, eq=False)
class _MemberLogits:
    """One member's logits as an array that is computed when it is read."""

    outputs: ClassifierOutputs
    member: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.outputs.n_rows, self.outputs.n_classes

    def __getitem__(self, span: slice) -> Array:
        return _finite_logits(self.outputs.logits_of(self.member, span))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self[slice(None)].astype(dtype or float, copy=False)


def _finite_logits(logits: Array) -> Array:
    """Return logits with the least there is in place of -inf, which would make every distance infinite."""
    return np.where(np.isneginf(logits), LEAST_LOG, logits)


def _logs(probabilities: Array, start: int) -> Array:
    bad = (probabilities < 0) | (np.abs(probabilities.sum(axis=-1, keepdims=True) - 1.0) > 0.01)
    if bad.any():
        row = start + int(bad.any(axis=1).argmax())
        raise TableError(
            f"Probabilities must be at least 0 and sum to 1; those of row {row:,} (counting from 0) do not. "
            f"If these are logits, name them `logits`."
        )
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probabilities))


def as_numbers(data: Any) -> Any:
    """Return an array of numbers of any library as one of NumPy."""
    if hasattr(data, "detach"):  # a torch tensor, perhaps on another device
        data = data.detach().cpu()
    array = data if isinstance(data, np.ndarray) else np.asarray(data)
    if array.dtype.kind not in "fiu":
        raise TableError(f"Numbers were expected; got {shape_of(array)}.")
    return array


def _split_members(data: Any) -> tuple[Any, ...]:
    parts = [as_numbers(part) for part in data] if isinstance(data, list | tuple) else [as_numbers(data)]
    members = [member for part in parts for member in (list(part) if part.ndim > 2 else [part])]
    if not members or any(member.ndim != 2 or member.shape[1] == 0 for member in members):
        raise TableError(
            f"Logits or probabilities must have shape (rows, classes) or (members, rows, classes); "
            f"got {[shape_of(part) for part in parts][:3]}."
        )
    return tuple(members)


def read_outputs(paths: Any, *, temperature: float = 1.0) -> ClassifierOutputs:
    """Read one file of outputs, or several, one per member.

    ``npz`` files hold ``logits`` or ``probs``, and may hold ``embeddings``, ``labels`` and ``ids`` (the last two are
    taken from the first file). ``npy`` files hold logits and are memory-mapped.
    """
    files = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not files:
        raise TableError("At least one file of outputs is needed.")
    parts = [_read_file(existing_file(path)) for path in files]
    kinds = {"probs" if "probs" in part else "logits" for part in parts}
    if len(kinds) > 1:
        raise TableError("Some files hold logits and others probabilities; all members must be of one kind.")
    kind = kinds.pop()
    embeddings = [part["embeddings"] for part in parts if "embeddings" in part]
    made = ClassifierOutputs.of(
        **{kind: [part[kind] for part in parts]},
        embeddings=_joined(embeddings, len(parts)),
        labels=parts[0].get("labels"),
        ids=parts[0].get("ids"),
        temperature=temperature,
    )
    # A file holds many rows; one row at a time, as Python may measure, is not kept in files.
    if len(files) == 1 and made.n_rows < len(made.members) <= max(_MANY_MEMBERS, 4 * made.n_rows):
        _warn_axes(made)
    return made


def _joined(embeddings: list[Any], n_files: int) -> Any:
    """Return the embeddings of all members; those of a single file stand for all."""
    if len(embeddings) < 2:
        return embeddings[0] if embeddings else None
    if len(embeddings) != n_files or len({part.shape for part in embeddings}) > 1:
        raise TableError("Either one file or every file must hold `embeddings`, and these must have the same shape.")
    return np.stack(embeddings)


def _read_file(path: Path) -> dict[str, Any]:
    if path.suffix.lower() == ".npy":
        return {"logits": _mapped(path)}
    if path.suffix.lower() != ".npz":
        raise TableError(f"{path} must be an npz or npy file of logits or probabilities.")
    found = load_arrays(path, wanted=_KNOWN.__contains__)
    arrays = {name: array for name, array in found.items() if array is not None}
    if ("logits" in arrays) == ("probs" in arrays):
        raise TableError(
            f"{path} must hold either `logits` or `probs`; it holds {one_line(sorted(found))}. Rename the array that "
            f"holds them, as in np.savez(path, logits=...)."
        )
    return arrays


def _mapped(path: Path) -> Any:
    """Return an array that stays on disk."""
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    # NumPy raises almost anything for a file that was made to be wrong.
    except Exception as error:
        raise TableError(f"{path} cannot be read (objects are refused): {one_line(error)}") from None


_KNOWN: Sequence[str] = ("logits", "probs", "embeddings", "labels", "ids")
