"""Print figures of docs/when-it-helps.md: each score, their plain sum and vecuq, on the toy and the bundled digits."""

import numpy as np
from scipy.stats import spearmanr

from vecuq import Settings, fit_ranker, read_table
from vecuq.data import demo_files
from vecuq.evaluation import roc_auc
from vecuq.paper.toy import toy_scores

DIGITS = ("entropy", "mutual_information", "mahalanobis", "knn")


def compare(name: str, calibration: np.ndarray, rows: np.ndarray, *, error: np.ndarray, ood: np.ndarray) -> None:
    """Print one line per way to order the rows; errors are looked for among in-distribution rows only."""
    plain_sum = ((rows - calibration.min(axis=0)) / np.ptp(calibration, axis=0)).sum(axis=1)
    ways = {f"score {k + 1}": rows[:, k] for k in range(rows.shape[1])}
    ways["plain sum of min-max scores"] = plain_sum
    ways["vecuq, paper"] = fit_ranker(calibration, Settings.paper()).uncertainty(rows)
    ways["vecuq, defaults"] = fit_ranker(calibration).uncertainty(rows)
    own = ood == 0
    print(f"\n{name:30}{'finds errors':>14}{'finds ood':>12}{'Spearman to sum, in-distribution':>36}")
    for way, order in ways.items():
        near = spearmanr(order[own], plain_sum[own]).statistic
        print(f"{way:30}{roc_auc(order[own], error[own]):14.3f}{roc_auc(order, ood):12.3f}{near:36.4f}")


def main() -> None:
    """Compare on both data sets."""
    toy = toy_scores()
    rows, kind = np.concatenate([toy.test, toy.ood]), np.repeat([0, 1], [len(toy.test), len(toy.ood)])
    error = np.concatenate([toy.is_error, np.ones(len(toy.ood), dtype=bool)])
    compare("toy", toy.calibration, rows, error=error, ood=kind)
    calibration, new = (read_table(path, columns=columns).values for path, columns in _digits())
    compare("digits ensemble", calibration, new[:, :4], error=new[:, 4], ood=new[:, 5])


def _digits() -> list[tuple[object, list[str]]]:
    calibration, new = demo_files()
    return [(calibration, [*DIGITS]), (new, [*DIGITS, "is_error", "is_ood"])]


if __name__ == "__main__":
    main()
