"""What the measures of a classifier find: errors, and rows of classes that it never saw.

On the digits of scikit-learn (1,797 images of 8 x 8 pixels), over random splits. Errors: 600 rows train, 600 calibrate,
597 are judged. Inverted images: the same, the 597 once more with dark and light exchanged. Unseen classes: the same
for digits 0 to 7, with all images of 8 and 9 among those judged. Also what became of the stages of a boosting as
members of an ensemble, which vecuq leaves alone. Prints tables in Markdown:
``python -m benchmarks.estimators [splits]``.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vecuq import from_estimator
from vecuq.measures import mutual_information

CLASSIFIERS: dict[str, Callable[[int], Any]] = {
    "random forest": lambda seed: RandomForestClassifier(random_state=seed),
    "random forest, `min_samples_leaf=5`": lambda seed: RandomForestClassifier(min_samples_leaf=5, random_state=seed),
    "histogram boosting": lambda seed: HistGradientBoostingClassifier(max_iter=50, random_state=seed),
    "logistic regression": lambda seed: make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
}
COLUMNS = ("entropy", "margin", "mutual_information", "mahalanobis", "knn_euclidean", "vecuq")
TASKS = ("errors", "inverted images", "unseen classes")
DARKEST = 16
KNOWN = 8  # digits below are known where others are not


def judged(make: Callable[[int], Any], task: str, seed: int) -> dict[str, float]:
    """Return the ROC-AUC of every column, and of vecuq, for one split."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(X))
    seen = order[y[order] < KNOWN] if task == "unseen classes" else order
    train, calibration, test = seen[:600], seen[600:1200], seen[1200:]
    classifier = make(seed).fit(X[train], y[train])
    model = from_estimator(classifier, X[train], y[train], X[calibration])
    rows, positive = X[test], classifier.predict(X[test]) != y[test]
    if task != "errors":
        others = DARKEST - X[test] if task == "inverted images" else X[y >= KNOWN]
        rows, positive = np.vstack([rows, others]), np.arange(len(rows) + len(others)) >= len(rows)
    columns = {**model.measure(rows).by_name(), "vecuq": model.uncertainty(rows)}
    return {name: float(roc_auc_score(positive, values)) for name, values in columns.items()}


def stages(seed: int) -> dict[str, float]:
    """Return the ROC-AUC for errors of a boosting's entropy, and of the disagreement of its later stages."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(X))
    train, test = order[:600], order[1200:]
    boosting = GradientBoostingClassifier(n_estimators=50, random_state=seed).fit(X[train], y[train])
    said = np.log(np.stack(list(boosting.staged_predict_proba(X[test])))[25::2])
    wrong = boosting.predict(X[test]) != y[test]
    entropy = -(np.exp(said[-1]) * said[-1]).sum(axis=1)
    return {
        "entropy": float(roc_auc_score(wrong, entropy)),
        "disagreement of stages": float(roc_auc_score(wrong, mutual_information(said))),
    }


def tables(n_splits: int, tasks: Sequence[str] = TASKS) -> Iterator[str]:
    """Yield the lines of the tables: means over splits."""
    for task in tasks:
        yield f"\nROC-AUC for {task}, mean of {n_splits} splits\n"
        yield f"| classifier | {' | '.join(COLUMNS)} |\n|{'---|' * (len(COLUMNS) + 1)}"
        for name, make in CLASSIFIERS.items():
            found = [judged(make, task, seed) for seed in range(n_splits)]
            means = [np.mean([one[key] for one in found]) if key in found[0] else None for key in COLUMNS]
            yield f"| {name} | {' | '.join('-' if mean is None else f'{mean:.3f}' for mean in means)} |"
    found = [stages(seed) for seed in range(n_splits)]
    yield "\n" + ", ".join(f"{key} {np.mean([one[key] for one in found]):.3f}" for key in found[0])


def main() -> None:
    """Print the tables."""
    warnings.simplefilter("ignore")
    for line in tables(int(sys.argv[1]) if len(sys.argv) > 1 else 20):
        print(line, flush=True)


if __name__ == "__main__":
    main()
