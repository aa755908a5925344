"""What a few labels do for the order: mean ROC-AUC with learned weights, beside no labels and a plain logistic model.

Run with ``python -m benchmarks.label_weights FOLDER``, a folder of npz files of score vectors, one per family, with the
arrays ``NAME/x`` (rows, columns; higher = more uncertain) and ``NAME/wrong`` of each of its sets. In every draw half of
a set calibrates the map, labels come from the other half, and the rest of that half judges the order. A set joins where
at least as many rows are left to judge as were labelled. Gains are paired, with their standard error over draws.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from vecuq import VecUQ, learn_weights
from vecuq._run import one_blas_thread
from vecuq.evaluation import roc_auc

LABELS = (50, 100, 200, 500)
METHODS = ("none", "vecuq", "plain logistic")
Sets = Iterator[tuple[str, np.ndarray, np.ndarray]]


def sets_of(file: Path) -> Sets:
    """Yield name, scores and labels of every set of a family."""
    with np.load(file, allow_pickle=False) as family:
        for name in sorted({key.split("/")[0] for key in family}):
            yield name, family[f"{name}/x"].astype(float), family[f"{name}/wrong"].astype(bool)


def one_draw(x: np.ndarray, wrong: np.ndarray, seed: int) -> dict[int, list[float]]:
    """Return the ROC-AUC of every method by the number of labels."""
    rows = np.random.default_rng(seed).permutation(len(x))
    calibration, rest = rows[: len(x) // 2], rows[len(x) // 2 :]
    plain = VecUQ().fit(x[calibration]).uncertainty(x[rest])
    found = {}
    for n in LABELS:
        labelled, judged = rest[:n], rest[n:]
        if len(judged) < n or len(set(wrong[judged])) < 2 or len(set(wrong[labelled])) < 2:
            continue
        weights = learn_weights(x[labelled], wrong[labelled])
        ours = plain[n:]
        if set(weights.values()) != {1.0}:
            ours = VecUQ(weights=weights).fit(x[calibration]).uncertainty(x[judged])
        scores = (plain[n:], ours, logistic(x[labelled], wrong[labelled], x[judged]))
        found[n] = [float(roc_auc(one, wrong[judged])) for one in scores]
    return found


def logistic(x: np.ndarray, wrong: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Return the order of scikit-learn's logistic regression on standardised columns."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression()).fit(x, wrong).decision_function(new)


def family_table(file: Path, seeds: range) -> dict[int, tuple[int, np.ndarray, np.ndarray]]:
    """Return by the number of labels: sets, mean ROC-AUC of every method, standard error of its gain."""
    means, errors = defaultdict(list), defaultdict(list)
    for _, x, wrong in sets_of(file):
        by_labels = defaultdict(list)
        for seed in seeds:
            for n, found in one_draw(x, wrong, seed).items():
                by_labels[n].append(found)
        for n, found in by_labels.items():
            table = np.array(found)
            means[n].append(table.mean(axis=0))
            errors[n].append((table - table[:, :1]).std(axis=0) / np.sqrt(len(table)))
    return {
        n: (len(means[n]), np.mean(means[n], axis=0), np.sqrt(np.sum(np.square(errors[n]), axis=0)) / len(errors[n]))
        for n in sorted(means)
    }


def main() -> None:
    """Print a table per family, and the mean of families."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.label_weights", description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of npz files, one per family")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="of the first draw; each draw takes the next")
    parser.add_argument("--family", action="append", help="only this one")
    asked = parser.parse_args()
    files = [file for file in sorted(asked.folder.glob("*.npz")) if not asked.family or file.stem in asked.family]
    if not files:
        print(f"skipped: there is no npz file of a family in {asked.folder}")
        return
    warnings.simplefilter("ignore")
    print("| family | labels | sets | " + " | ".join(METHODS) + " | gain of vecuq |")
    print("|---" * (len(METHODS) + 4) + "|")
    everything = defaultdict(list)
    for file in files:
        with one_blas_thread():
            for n, (sets, mean, error) in family_table(file, range(asked.seed, asked.seed + asked.draws)).items():
                everything[n].append(mean)
                shown = " | ".join(f"{one:.4f}" for one in mean)
                gain = f"{mean[1] - mean[0]:+.4f} ({error[1]:.4f})"
                print(f"| {file.stem} | {n} | {sets} | {shown} | {gain} |", flush=True)
    for n, family_means in everything.items():
        mean = np.mean(family_means, axis=0)
        print(f"| mean of {len(family_means)} | {n} | | " + " | ".join(f"{one:.4f}" for one in mean), end="")
        print(f" | {mean[1] - mean[0]:+.4f} |")


if __name__ == "__main__":
    main()
