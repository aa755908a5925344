"""The saved EstimatorPipeline: everything but the classifier, by which the right one is recognised when it returns."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct
from sklearn.utils.validation import check_is_fitted

from vecuq._check import Array, one_line, unique_names
from vecuq._files import (
    AtLeastOne,
    Names,
    Numbers,
    between,
    check_arrays,
    checked_header,
    under,
)
from vecuq.errors import ModelFileError
from vecuq.measures import known_measures
from vecuq.pipeline.asking import Classifier
from vecuq.pipeline.estimator import EstimatorPipeline
from vecuq.pipeline.estimator_measures import NEAREST, EstimatorMeasures, found_measures
from vecuq.pipeline.feature_scale import FeatureScale
from vecuq.pipeline.probing import PROBES, RowProbe, alike, probe_of
from vecuq.pipeline.sense import density_of
from vecuq.pipeline.trained import TrainedRows
from vecuq.ranker import Ranker, VecUQ, ranker_of
from vecuq.ranker import parts_of as ranker_parts

KIND = "estimator_pipeline"
_MODERATE, _SPREAD, _SHARE = between(-1e150, 1e150), between(1e-150, 1e150), between(-1e-6, 1.0 + 1e-6)


class EstimatorHeader(Struct):
    """What the header of an EstimatorPipeline states."""

    classifier: str
    classes: tuple[str, ...]
    members: AtLeastOne
    n_features: AtLeastOne
    features: tuple[str, ...] | None
    measures: Names
    left_out: dict[str, str]
    ranker: dict[str, Any]
    prepared_by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        unique_names(self.measures)
        if len(self.classes) < 2 or len(set(self.classes)) < len(self.classes):
            raise ValueError("at least two different classes were expected")
        if self.features is not None and len(self.features) != self.n_features:
            raise ValueError("there are not as many names as features")


def parts_of(pipeline: EstimatorPipeline) -> tuple[str, dict[str, Any], dict[str, Array]]:
    """Return kind, header and arrays of a file that holds a pipeline without its classifier."""
    check_is_fitted(pipeline)
    steps = pipeline.steps_
    _, model, kept = ranker_parts(pipeline.ranker_)
    arrays: dict[str, Any] = {f"ranker/{name}": array for name, array in kept.items()}
    for density, fitted in steps.densities_.items():
        arrays |= {f"density/{density}/{part}": array for part, array in fitted.arrays().items()}
    if steps.scale_ is not None:
        arrays |= {"features/centre": steps.scale_.centre, "features/spread": steps.scale_.spread}
        arrays |= {} if steps.probe_ is None else {"features/probe": steps.probe_}
    if steps.row_probe_ is not None:
        scale = steps.row_probe_.scale
        arrays |= {"rows/centre": scale.centre, "rows/spread": scale.spread, "rows/said": steps.row_probe_.said}
    if pipeline.trained_ is not None:
        arrays["training/rows"] = pipeline.trained_.hashes
    names = getattr(steps, "feature_names_in_", None)
    header = {
        "classifier": steps.kind_,
        "classes": [_name_of(one) for one in steps.classes_],
        "members": steps.n_members_,
        "n_features": steps.n_features_in_,
        "features": None if names is None else [str(name) for name in names],
        "measures": list(steps.measures_),
        "left_out": dict(steps.left_out_),
        "ranker": model,
        "prepared_by": list(steps.prepared_by_),
    }
    return KIND, header, arrays


def estimator_of(header: dict[str, Any], arrays: dict[str, Array], estimator: Any = None) -> EstimatorPipeline:
    """Put a pipeline together again, with the classifier that was supplied; raise if it is another one.

    Without one the pipeline describes itself, and cannot measure rows.
    """
    known = checked_header(header, EstimatorHeader)
    ranker = ranker_of(known.ranker, under("ranker/", arrays))
    _check(known, ranker)
    steps = EstimatorMeasures(estimator, measures=list(known.measures))
    steps.kind_, steps.n_members_, steps.measures_ = known.classifier, known.members, known.measures
    steps.left_out_, steps.n_features_in_ = dict(known.left_out), known.n_features
    steps.prepared_by_, steps.row_probe_ = known.prepared_by, _row_probe_of(known, under("rows/", arrays))
    steps.classes_ = np.array(known.classes, dtype=object)
    if known.features is not None:
        steps.feature_names_in_ = np.array(known.features, dtype=object)
    densities = [one for one in found_measures(known.measures) if one.needs == "training"]
    steps.densities_ = {
        one.name: density_of(one.name, one.compute, under(f"density/{one.name}/", arrays), None) for one in densities
    }
    steps.scale_, steps.probe_ = _scale_of(known, arrays, needed=bool(densities))
    _check_sizes(steps)
    if estimator is not None:
        _give(steps, known, estimator)
    made = EstimatorPipeline(estimator, measures=list(known.measures), ranker=VecUQ.from_ranker(ranker))
    return made.keep(steps, VecUQ.from_ranker(ranker), _trained_of(under("training/", arrays)))


def _trained_of(found: dict[str, Array]) -> TrainedRows | None:
    """Return the hashes of the training rows, if the file has them."""
    if not found:
        return None
    check_arrays(found, {"rows": Numbers("rows", dtype="uint64")})
    return TrainedRows(np.asarray(found["rows"], dtype=np.uint64))


def _check(known: EstimatorHeader, ranker: Ranker) -> None:
    unknown = [name for name in known.measures if name not in (*known_measures("classifier"), NEAREST.name)]
    if unknown:
        raise ModelFileError(
            f"No installed package knows the measure {one_line(repr(unknown[0]), most=60)}. Install the one that adds "
            f"it, or fit again."
        )
    if ranker.columns != known.measures or ranker.flipped:
        raise ValueError("the model inside does not rank these measures")


def _scale_of(
    known: EstimatorHeader, arrays: dict[str, Array], *, needed: bool
) -> tuple[FeatureScale | None, Array | None]:
    """Return the scale of the features and what the classifier says at the probes, as far as the file has them."""
    found = under("features/", arrays)
    if not needed:
        return None, None
    table = {"centre": Numbers("d", _MODERATE), "spread": Numbers("d", _SPREAD)}
    if "probe" in found:
        table["probe"] = Numbers("probes classes", _SHARE)
    sizes = {"classes": len(known.classes), "probes": PROBES} if "probe" in found else {}
    check_arrays(found, table, **sizes)
    return FeatureScale(found["centre"], found["spread"]), found.get("probe")


def _row_probe_of(known: EstimatorHeader, found: dict[str, Array]) -> RowProbe | None:
    """Return what the classifier said of rows as they come, if the file has it."""
    if not found:
        return None
    table = {
        "centre": Numbers("d", _MODERATE),
        "spread": Numbers("d", _SPREAD),
        "said": Numbers("probes classes", _SHARE),
    }
    check_arrays(found, table, d=known.n_features, classes=len(known.classes), probes=PROBES)
    return RowProbe(FeatureScale(found["centre"], found["spread"]), found["said"])


def _check_sizes(steps: EstimatorMeasures) -> None:
    """Raise if a distance is of other features than those that have a scale."""
    for name, density in steps.densities_.items():
        sizes = {(array.shape[0], array.shape[-1]) for array in density.arrays().values() if array.ndim > 2}
        if steps.scale_ is None or sizes != {(1, len(steps.scale_.centre))}:
            raise ValueError(f"{name!r} is of another number of features")


def _give(steps: EstimatorMeasures, known: EstimatorHeader, estimator: Any) -> None:
    """Give a pipeline its classifier; raise if it is another one than that which it was fitted with."""
    classifier = Classifier.of(estimator, steps.classes_)
    _same("its classes", [_name_of(one) for one in classifier.classes], list(known.classes))
    _same("its kind", classifier.kind, known.classifier)
    _same("what prepares its rows", _in_words(classifier.prepared_by), _in_words(known.prepared_by))
    found = getattr(classifier.parts[0], "n_features_in_", known.n_features)
    _same("its number of features", int(found), known.n_features)
    if known.members not in (1, classifier.n_members):
        _same("its number of members", classifier.n_members, known.members)
    by_features = steps.probe_ is None or alike(probe_of(classifier, steps.scale_), steps.probe_)
    by_rows = steps.row_probe_ is None or steps.row_probe_.recognises(classifier, known.features)
    if not (by_features and by_rows):
        raise ModelFileError(
            "This is another classifier than the one that the file was fitted with: their probabilities differ. Give "
            "that one, or fit again: a promise holds for one classifier."
        )
    steps.give(classifier, estimator)


def _same(what: str, found: Any, needed: Any) -> None:
    if found != needed:
        raise ModelFileError(
            f"This is another classifier than the one that the file was fitted with: {what} is "
            f"{one_line(found, most=80)}, and {one_line(needed, most=80)} was needed."
        )


def _in_words(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "nothing"


def _name_of(one: Any) -> str:
    return str(one.item() if hasattr(one, "item") else one)
