"""Make the bundled example data: four uncertainty scores of a small ensemble that reads handwritten digits.

Five small neural networks learn the digits 0 to 7 from a few rows of scikit-learn's bundled ``load_digits``; 8 and 9
are never shown to them. Calibration rows are digits 0 to 7 alone; among the new rows are digits 8 and 9, on which
every prediction is wrong (``is_ood``), and digits 0 to 7 that the ensemble confuses (``is_error``).

Run ``python tools/make_demo_data.py``: it writes both files anew and prints how well each score does.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import roc_auc_score
from sklearn.neural_network import MLPClassifier

from vecuq.data import demo_files

Array = NDArray[np.float64]

SEED = 0
KNOWN = 8  # digits below this are in distribution
N_TRAIN, N_CALIBRATION, N_NEW_KNOWN, N_NEW_OOD = 120, 400, 520, 200
SCORES = ("entropy", "mutual_information", "mahalanobis", "knn", "confidence")


class Rows(NamedTuple):
    """Some rows of the digits: where they stood, their pixels, their digit."""

    place: NDArray[np.intp]
    pixels: Array
    digit: NDArray[np.intp]


def main() -> None:
    """Train, score, write both files, print the areas under the ROC curves."""
    train, calibration, new = split_digits()
    members = train_ensemble(train)
    calibration_path, new_path = demo_files()
    write_csv(calibration_path, {"id": names(calibration), **scores_of(calibration, train, members)})
    scores, labels = scores_of(new, train, members), labels_of(new, members)
    write_csv(new_path, {"id": names(new), **scores, **labels})
    print_areas(scores, labels)


def split_digits() -> tuple[Rows, Rows, Rows]:
    """Return training, calibration and new rows; no row is in two of them."""
    digits = load_digits()
    order = np.random.default_rng(SEED).permutation(len(digits.target))
    known, unseen = (order[mask] for mask in (digits.target[order] < KNOWN, digits.target[order] >= KNOWN))
    train, calibration, rest = np.split(known, [N_TRAIN, N_TRAIN + N_CALIBRATION])
    new = np.random.default_rng(SEED + 1).permutation(np.concatenate([rest[:N_NEW_KNOWN], unseen[:N_NEW_OOD]]))
    parts = [Rows(index, digits.data[index] / 16.0, digits.target[index]) for index in (train, calibration, new)]
    return parts[0], parts[1], parts[2]


def train_ensemble(train: Rows) -> list[MLPClassifier]:
    """Train five networks, each on its own bootstrap sample of the training rows."""
    return [train_member(train, seed) for seed in range(5)]


def train_member(train: Rows, seed: int) -> MLPClassifier:
    """Train one network on a bootstrap sample in which every known digit occurs."""
    rng = np.random.default_rng(seed)
    chosen = rng.integers(len(train.place), size=len(train.place))
    while len(np.unique(train.digit[chosen])) < KNOWN:
        chosen = rng.integers(len(train.place), size=len(train.place))
    member = MLPClassifier(hidden_layer_sizes=(32,), alpha=1e-3, max_iter=2000, random_state=seed)
    return member.fit(train.pixels[chosen], train.digit[chosen])


def probabilities(rows: Rows, members: list[MLPClassifier]) -> Array:
    """Return the members' predictions, (members, rows, classes)."""
    return np.stack([member.predict_proba(rows.pixels) for member in members])


def scores_of(rows: Rows, train: Rows, members: list[MLPClassifier]) -> dict[str, Array]:
    """Return every score column; all but ``confidence`` are higher for more uncertain rows."""
    each = probabilities(rows, members)
    mean = each.mean(axis=0)
    columns = (
        entropy(mean),
        np.maximum(entropy(mean) - entropy(each).mean(axis=0), 0.0),
        mahalanobis(rows, train),
        np.sort(cdist(rows.pixels, train.pixels), axis=1)[:, 4],
        mean.max(axis=1),
    )
    return dict(zip(SCORES, columns, strict=True))


def entropy(p: Array) -> Array:
    """Return the entropy over the last axis, in nats."""
    return np.asarray(-(p * np.log(np.maximum(p, 1e-300))).sum(axis=-1))


def mahalanobis(rows: Rows, train: Rows) -> Array:
    """Return the smallest squared Mahalanobis distance to a class mean: shared covariance, 20 principal components."""
    pca = PCA(n_components=20, random_state=SEED).fit(train.pixels)
    seen, points = pca.transform(train.pixels), pca.transform(rows.pixels)
    means = np.stack([seen[train.digit == digit].mean(axis=0) for digit in range(KNOWN)])
    residuals = seen - means[train.digit]
    covariance = residuals.T @ residuals / len(seen) + 1e-3 * np.eye(seen.shape[1])
    distances = cdist(points, means, metric="mahalanobis", VI=np.linalg.inv(covariance))
    return np.asarray(distances.min(axis=1) ** 2)


def labels_of(rows: Rows, members: list[MLPClassifier]) -> dict[str, NDArray[np.intp]]:
    """Return what the scores should find: wrong predictions, and digits never seen in training."""
    predicted = probabilities(rows, members).mean(axis=0).argmax(axis=1)
    return {"is_error": (predicted != rows.digit).astype(int), "is_ood": (rows.digit >= KNOWN).astype(int)}


def names(rows: Rows) -> list[str]:
    """Return an id per row: its place in ``load_digits``."""
    return [f"digit_{place:04d}" for place in rows.place]


def write_csv(path: Path, columns: Mapping[str, Iterable[object]]) -> None:
    """Write columns of one length; six significant digits."""
    cells = [[_cell(value) for value in column] for column in columns.values()]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*cells, strict=True))


def _cell(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def print_areas(scores: dict[str, Array], labels: dict[str, NDArray[np.intp]]) -> None:
    """Print the area under the ROC curve of every score, for both questions."""
    known, wrong, ood = labels["is_ood"] == 0, labels["is_error"], labels["is_ood"]
    print(f"{known.sum()} known digits, {wrong[known].sum()} of them misread; {ood.sum()} digits never seen\n")
    print(f"{'ROC-AUC':<20}{'misread':>9}{'unseen':>9}")
    for name, score in scores.items():
        up = -score if name == "confidence" else score
        print(f"{name:<20}{roc_auc_score(wrong[known], up[known]):>9.3f}{roc_auc_score(ood, up):>9.3f}")


if __name__ == "__main__":
    main()
