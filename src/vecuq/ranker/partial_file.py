"""A partial fit as a file: what goes into it, and how it is put together again."""

from __future__ import annotations

from typing import Any

from vecuq._check import Array
from vecuq._files import Source, checked_header, read_tensors
from vecuq.errors import ModelFileError
from vecuq.ranker.artefact import header_of_weights, settings_of, weights_of
from vecuq.ranker.hashed_rows import HashedRows
from vecuq.ranker.model_sense import LABELLED_PRINTS
from vecuq.ranker.partial import PartialFit
from vecuq.ranker.partial_sense import PartialHeader, check_partial
from vecuq.ranker.sampled import Sampled
from vecuq.ranker.sketch_sense import PRINTS, RANGES, saved_prints
from vecuq.ranker.sketches import Sketch
from vecuq.ranker.weights import Weights
from vecuq.table import Fingerprints

_PLAIN = ("missing", "part", "n_seen", "n_dropped", "held_by", "few", "sample_only")


def partial_parts(partial: PartialFit) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Return kind, header and arrays of a file that holds a partial fit."""
    settings, rest = partial.settings, partial.rest
    header = {
        **{name: getattr(partial, name) for name in _PLAIN},
        "columns": None if partial.columns is None else list(partial.columns),
        "flipped": None if partial.flipped is None else sorted(partial.flipped),
        "flip": None if partial.flip is None else list(partial.flip),
        "ranges": None if partial.ranges is None else {name: list(ends) for name, ends in partial.ranges.items()},
        "cut": f"{partial.cut:x}",
        "rest": None if rest is None else "sketch" if isinstance(rest, Sketch) else "sample",
        "rest_count": 0 if rest is None else rest.count,
        "settings": {name: value for name, value in settings.to_dict().items() if name != "weights"},
        **header_of_weights(Weights.of(settings.weights)),
    }
    learned = getattr(settings.weights, "prints", None)
    labelled = {} if learned is None else {LABELLED_PRINTS: learned.hashes}
    return "partial", header, {**_arrays_of_rows("rows", partial.rows), **_arrays_of_rest(rest), **labelled}


def _arrays_of_rows(name: str, rows: HashedRows | None) -> dict[str, Any]:
    return {} if rows is None else {f"{name}.hashes": rows.hashes, f"{name}.values": rows.values}


def _arrays_of_rest(rest: Sketch | Sampled | None) -> dict[str, Any]:
    if rest is None:
        return {}
    prints = {} if rest.prints is None else {PRINTS: rest.prints.hashes}
    if isinstance(rest, Sketch):
        return {name: getattr(rest, name) for name in (*RANGES, "moments")} | prints
    return {"seen_low": rest.seen_low, "seen_high": rest.seen_high, **_arrays_of_rows("sample", rest.rows)} | prints


def partial_of(header: dict[str, Any], arrays: dict[str, Array]) -> PartialFit:
    """Put a partial fit together again; raise if a part of it makes no sense, by itself or beside the others."""
    known = checked_header(header, PartialHeader)
    settings = settings_of(known.settings, weights_of(known.weights, arrays))
    check_partial(known, settings, arrays)
    made = PartialFit(known.columns, settings, flip=known.flip, ranges=known.ranges)
    for name in _PLAIN:
        setattr(made, name, getattr(known, name))
    made.flipped = None if known.flipped is None else frozenset(known.flipped)
    made.cut = int(known.cut, 16)
    made.rows = _rows_of("rows", arrays)
    made.rest = _rest_of(known, arrays)
    return made


def _rows_of(name: str, arrays: dict[str, Any]) -> HashedRows | None:
    hashes = arrays.get(f"{name}.hashes")
    return None if hashes is None else HashedRows(hashes, arrays[f"{name}.values"])


def _rest_of(known: PartialHeader, arrays: dict[str, Any]) -> Sketch | Sampled | None:
    if known.rest is None:
        return None
    if known.rest == "sketch":
        return Sketch(
            columns=known.columns or (),
            flipped=frozenset(known.flipped or ()),
            count=known.rest_count,
            **{name: arrays[name] for name in (*RANGES, "moments")},
            prints=saved_prints(PRINTS, arrays),
        )
    rows = _rows_of("sample", arrays) or HashedRows.none(len(known.columns or ()))
    return Sampled(known.rest_count, arrays["seen_low"], arrays["seen_high"], rows, Fingerprints(arrays[PRINTS]))


def load_partial(source: Source) -> PartialFit:
    """Read a partial fit, and nothing else."""
    header, arrays = read_tensors(source)
    if header["kind"] != "partial":
        raise ModelFileError(f"A partial fit was expected; got a {header['kind']}.")
    try:
        return partial_of(header, arrays)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ModelFileError(f"This partial fit was altered or damaged: {error}. Gather the rows again.") from None
