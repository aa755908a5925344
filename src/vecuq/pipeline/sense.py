"""What a saved pipeline must be: known measures, the densities that they need, and a model of their columns."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from vecuq._check import Array, one_line, one_of, unique_names
from vecuq._files import AtLeastOne, Names, check_arrays, under
from vecuq.errors import ModelFileError
from vecuq.measures import EMBEDDINGS, find_measures, known_measures
from vecuq.outputs import TEMPERATURES
from vecuq.ranker import Ranker


class PipelineHeader(Struct):
    """What the header of a pipeline states."""

    measures: Names
    embedding: str
    temperature: Annotated[float, Meta(ge=TEMPERATURES[0], le=TEMPERATURES[1])]
    ranker: dict[str, Any]
    shape: tuple[AtLeastOne, Annotated[int, Meta(ge=2)]] | None = None  # vecuq 0.1.0 kept none

    def __post_init__(self) -> None:
        one_of("the embedding", self.embedding, EMBEDDINGS)
        unique_names(self.measures)


def densities_of(known: PipelineHeader, ranker: Ranker, arrays: dict[str, Array]) -> dict[str, Any]:
    """Put the fitted densities together again; raise ValueError if a part of one is not what it must be."""
    unknown = [name for name in known.measures if name not in known_measures("classifier")]
    if unknown:
        raise ModelFileError(
            f"No installed package knows the measure {one_line(repr(unknown[0]), most=60)}. Install the one that adds "
            f"it, or fit again."
        )
    if not set(ranker.columns) <= set(known.measures):
        raise ValueError(f"the model has the columns {list(ranker.columns)}, which are not among the measures")
    return {
        found.name: density_of(found.name, found.compute, under(f"density/{found.name}/", arrays), known.shape)
        for found in find_measures(known.measures)
        if found.needs == "training"
    }


def density_of(name: str, kind: Any, arrays: dict[str, Array], shape: tuple[int, int] | None) -> Any:
    """Return one density; those of other packages declare nothing, and check for themselves."""
    try:
        sizes = check_arrays(arrays, getattr(kind, "parts", {}))
        if 0 in sizes.values():
            raise ValueError("an array of it is empty")
        # One member may be what embeddings come from, whatever the number of members that logits come from.
        if shape is not None and sizes.get("members", 1) not in (1, shape[0]):
            raise ValueError(f"it has {sizes['members']} members, and the pipeline {shape[0]}")
        return kind(**arrays)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the density {name!r}: {error}") from None
