"""What a saved pipeline must be: known measures, the densities that they need, and a model of their columns."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from vecuq._check import Array, one_of, unique_names
from vecuq._files import AtLeastOne, Names, Positive, check_arrays, under
from vecuq.errors import ModelFileError
from vecuq.measures import EMBEDDINGS, find_measures, known_measures
from vecuq.ranker import Ranker


class PipelineHeader(Struct):
    """What the header of a pipeline states."""

    measures: Names
    embedding: str
    temperature: Positive
    ranker: dict[str, Any]
    shape: tuple[AtLeastOne, Annotated[int, Meta(ge=2)]] | None = None  # vecuq 0.1.0 kept none

    def __post_init__(self) -> None:
        one_of("the embedding", self.embedding, EMBEDDINGS)
        unique_names(self.measures)


def densities_of(known: PipelineHeader, ranker: Ranker, arrays: dict[str, Array]) -> dict[str, Any]:
    """Put the fitted densities together again; raise ValueError if a part of one is not what it must be."""
    unknown = [name for name in known.measures if name not in known_measures("classifier")]
    if unknown:
        raise ModelFileError(f"It measures {unknown}, which no installed package does. Install it, or fit again.")
    if not set(ranker.columns) <= set(known.measures):
        raise ValueError(f"the model has the columns {list(ranker.columns)}, which are not among the measures")
    return {
        found.name: _density(found.name, found.compute, under(f"density/{found.name}/", arrays))
        for found in find_measures(known.measures)
        if found.needs == "training"
    }


def _density(name: str, kind: Any, arrays: dict[str, Array]) -> Any:
    """Return one density; those of other packages declare nothing, and check for themselves."""
    try:
        check_arrays(arrays, getattr(kind, "parts", {}))
        return kind(**arrays)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the density {name!r}: {error}") from None
