"""Ten Gaussian blobs on a circle: entropy sees where classes meet, Mahalanobis where nothing is, the rank sees both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq._draw import Sheet
from vecuq.evaluation import roc_auc
from vecuq.measures import entropy, fit_densities
from vecuq.outputs import ClassifierOutputs
from vecuq.paper.drawings import maps
from vecuq.paper.study import Picture, Study
from vecuq.ranker import Settings, fit_ranker

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RADIUS, N_CLASSES, PER_CLASS, HIDDEN = 8.0, 10, 200, 32
EXTENT, SIDE = 16.0, 160
Logits = Callable[[Array], Array]
METHODS = ("entropy", "Mahalanobis", "VecUQ-OT")


@dataclass(frozen=True, eq=False)
class Blobs:
    """Points of the plane (n, 2) with the class that each was drawn from."""

    points: Array
    labels: NDArray[np.int_]


def draw_blobs(random_state: int) -> Blobs:
    """Draw as many points for each of ten classes, with unit deviation, around ten places on the circle."""
    rng = np.random.default_rng(random_state)
    labels = np.repeat(np.arange(N_CLASSES), PER_CLASS)
    return Blobs(_centres()[labels] + rng.standard_normal((len(labels), 2)), labels)


def _centres() -> Array:
    angles = 2 * np.pi * np.arange(N_CLASSES) / N_CLASSES
    return RADIUS * np.column_stack([np.cos(angles), np.sin(angles)])


def _plane() -> Array:
    axis = np.linspace(-EXTENT, EXTENT, SIDE)
    return np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)


def blob_maps(points: Array, train: Blobs, logits: Logits) -> dict[str, Array]:
    """Return the two scores of a network and their rank at any points; another draw of the blobs calibrates."""
    calibration = draw_blobs(1)
    densities = fit_densities(
        ["mahalanobis"], ClassifierOutputs.of(logits=logits(train.points)[None], labels=train.labels)
    )

    def both(places: Array) -> Array:
        found = logits(places)
        return np.column_stack([entropy(found[None]), densities["mahalanobis"].score([found])])

    ranker = fit_ranker(both(calibration.points), Settings.paper())
    scores = both(points)
    return dict(zip(METHODS, (scores[:, 0], scores[:, 1], ranker.uncertainty(scores)), strict=True))


def network_logits(train: Blobs) -> Logits:
    """Fit one hidden layer of 32 rectified units; return the logits as a function of points."""
    from sklearn.neural_network import MLPClassifier

    network = MLPClassifier((HIDDEN,), max_iter=600, random_state=0).fit(train.points, train.labels)
    (inner, outer), (inner_bias, outer_bias) = network.coefs_, network.intercepts_
    return lambda points: np.maximum(points @ inner + inner_bias, 0.0) @ outer + outer_bias


def reproduce_blobs() -> Study:
    """Draw the three maps, and put numbers on what they show."""
    train, test = draw_blobs(0), draw_blobs(2)
    logits = network_logits(train)
    found = blob_maps(np.concatenate([test.points, _plane()]), train, logits)
    is_error = logits(test.points).argmax(axis=1) != test.labels
    figures = {name: _figures(values, test, is_error) for name, values in found.items()}
    grids = {name: values[len(test.points) :].reshape(SIDE, SIDE) for name, values in found.items()}
    sheet = Sheet(
        "blobs",
        "ROC-AUC: the network's errors, and places far from all blobs",
        tuple({"measure": name, **row} for name, row in figures.items()),
        down=dict.fromkeys(next(iter(figures.values())), True),
    )
    return Study(
        name="blobs",
        title="Ten blobs: what entropy sees, what Mahalanobis sees, and what their rank sees",
        sheets=(sheet,),
        figures=figures,
        differs="The paper shows a picture and no numbers; points, network and seeds are ours (radius 8, deviation 1, "
        "one hidden layer of 32 rectified units, as there). The Mahalanobis score looks at the logits.",
        pictures=(
            Picture(
                "maps",
                "Entropy is high between classes, Mahalanobis away from all data, VecUQ-OT at both.",
                partial(_draw, grids, test),
            ),
        ),
        claims=(
            "High total uncertainty both where labels are ambiguous and where data are sparse: VecUQ-OT "
            + " and ".join(f"{value:.3f} ({name})" for name, value in figures["VecUQ-OT"].items())
            + "; the worse task of entropy "
            + f"{min(figures['entropy'].values()):.3f}, of Mahalanobis {min(figures['Mahalanobis'].values()):.3f}.",
        ),
    )


def _figures(found: Array, test: Blobs, is_error: NDArray[np.bool_]) -> dict[str, float]:
    """Return how well a score finds the network's errors, and places that are four deviations from every blob."""
    own, everywhere = found[: len(test.points)], found[len(test.points) :]
    empty = everywhere[np.linalg.norm(_plane()[:, None] - _centres(), axis=2).min(axis=1) > 4.0]
    return {
        "errors": roc_auc(own, is_error),
        "nothing is there": roc_auc(np.concatenate([own, empty]), np.repeat([0, 1], [len(own), len(empty)])),
    }


def _draw(grids: dict[str, Array], test: Blobs) -> Figure:
    return maps(grids, (-EXTENT, EXTENT), test.points)
