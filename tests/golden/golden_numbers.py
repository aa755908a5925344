"""Every number that vecuq gives on the bundled data, by name, with explicit settings; public names only.

``python tests/golden/golden_numbers.py FILE`` writes all rows to an npz file, to compare two commits bit for bit.
``python tests/golden/golden_numbers.py --fixture`` writes ``numbers.npz`` here: the first rows of everything.
"""

import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pyarrow.csv as pc

FIXTURE = Path(__file__).with_name("numbers.npz")
COLUMNS = ["entropy", "mutual_information", "mahalanobis", "knn"]
EXPLICIT = {
    "reference": "beta", "epsilon": 0.5, "scaling": "featurewise", "anchors": 5.0, "overshoot": 0.5, "holdback": 0.5,
    "grid": "midpoint", "n_targets": 625, "solver": "separable", "tol": 1e-9, "max_iter": 1000, "random_state": 0,
}  # fmt: skip
CHANGES = {
    "plain": {},
    "sketch": {"solver": "sketch"},
    "dense": {"solver": "dense"},
    "exponential": {"reference": "exponential"},
    "ball": {"reference": "ball"},
    "global": {"scaling": "global"},
    "identity": {"scaling": "identity", "epsilon": 50.0},
    "quantile": {"scaling": "quantile"},
    "small_epsilon": {"epsilon": 0.05},
    "paper": {"overshoot": 0.0, "holdback": 0.0, "n_targets": "rows"},
    "authors": {"overshoot": 0.0, "holdback": 0.0, "n_targets": "rows", "grid": "authors", "solver": "auto"},
    "all_targets": {"n_targets": 10_000},
    "anchor_mass": {"anchor_mass": 0.02, "anchors": 3.0},
}


def demo_tables():
    """Calibration and new rows of the bundled example, as Arrow tables."""
    folder = files("vecuq.data")
    return tuple(pc.read_csv(str(folder / f"demo_{name}.csv")) for name in ("calibration", "new"))


def ranker_numbers(calibration, new):
    """Scores, images, p-values, decisions and contributions under many settings."""
    from vecuq import VecUQ

    out = {}
    for name, changes in CHANGES.items():
        model = VecUQ(columns=COLUMNS, **{**EXPLICIT, **changes}).fit(calibration)
        out[f"{name}/uncertainty"] = model.uncertainty(new)
        out[f"{name}/images"] = model.transform(new)
        out[f"{name}/contributions"] = model.explain(new)
        if model.diagnostics_.n_held:
            out[f"{name}/p_values"] = model.p_values(new)
            out[f"{name}/threshold"] = np.array([model.threshold(0.05), model.threshold(0.1)])
    return out | _decisions(calibration, new)


def _decisions(calibration, new):
    from vecuq import VecUQ

    model = VecUQ(columns=[*COLUMNS, "confidence"], flip=["confidence"], **EXPLICIT).fit(calibration)
    matrix = np.column_stack([new[name].to_numpy() for name in [*COLUMNS, "confidence"]]).astype(float)
    holed = matrix.copy()
    holed[::3, 0], holed[::5, 2], holed[7, :] = np.nan, np.nan, np.nan
    marginal = VecUQ(columns=[*COLUMNS, "confidence"], flip=["confidence"], missing="marginal", **EXPLICIT)
    marginal.fit(calibration)
    rows = {name: holed[:, k] for k, name in enumerate([*COLUMNS, "confidence"])}
    out = {
        "flipped/uncertainty": model.uncertainty(new),
        "flipped/gradient": model.explain(new, method="gradient"),
        "flipped/at_median": model.p_values_at_median(new),
        "flipped/randomised": model.p_values(new, ties="randomised", random_state=3),
        "flipped/flag": model.flag(new, 0.05).astype(float),
    }
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out["flipped/select"] = model.select(new, 0.1).astype(float)  # none, and it says how many it would take
        out["missing/uncertainty"] = marginal.uncertainty(rows)
        out["missing/p_values"] = marginal.p_values(rows)
        out["missing/contributions"] = marginal.explain(rows)
    return out


def baseline_numbers(calibration, new):
    """Every other way to combine columns."""
    import vecuq.baselines as rivals

    tables = [table.select(COLUMNS) for table in (calibration, new)]
    names = [baseline.name for baseline in rivals.baselines().values()]
    made = {name: getattr(rivals, name)() for name in names}
    for forest in made.values():
        if "random_state" in forest.get_params():
            forest.set_params(random_state=0)
    return {f"baseline/{name}": rival.fit(tables[0]).uncertainty(tables[1]) for name, rival in made.items()}


def measure_numbers(train, labels, test):
    """Every measure of a classifier's logits, (members, rows, classes)."""
    from vecuq import ClassifierOutputs
    from vecuq.measures import fit_densities, list_measures, measure

    names = list(list_measures()["classifier"])
    known = ClassifierOutputs.of(logits=train, labels=labels)
    densities = fit_densities(names, known, embedding="logits")
    table = measure(ClassifierOutputs.of(logits=test), names, densities, embedding="logits")
    return {f"measure/{name}": table.values[:, k] for k, name in enumerate(table.columns)}


def made_logits(n_rows):
    """Made logits of three members and five classes: training rows with labels, and others."""
    rng = np.random.default_rng(0)
    labels = rng.integers(5, size=n_rows)
    train = rng.normal(size=(3, n_rows, 5)) + 3.0 * np.eye(5)[labels]
    return train, labels, rng.normal(scale=2.0, size=(3, n_rows, 5))


def text_numbers(answers):
    """Every text measure of saved answers, through the command line."""
    import tempfile

    import pyarrow.parquet as pq
    from typer.testing import CliRunner

    from vecuq.cli import app

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "scores.parquet"
        words = ["measure", str(answers), "-o", str(out), "--quality", "rouge_l", "--similarity", "rouge_l"]
        result = CliRunner().invoke(app, words, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        table = pq.read_table(out)
    return {
        f"text/{name}": table[name].to_numpy().astype(float)
        for name in table.column_names
        if table.schema.field(name).type in ("double", "float")
    }


def all_numbers(answers):
    """Everything above, all rows."""
    calibration, new = demo_tables()
    return {
        **ranker_numbers(calibration, new),
        **baseline_numbers(calibration, new),
        **measure_numbers(*made_logits(400)),
        **text_numbers(answers),
    }


RECORDED = Path(__file__).parents[1] / "data" / "recorded_answers.jsonl.gz"

if __name__ == "__main__":
    found = all_numbers(RECORDED)
    if sys.argv[1] == "--fixture":
        np.savez_compressed(FIXTURE, **{name: values[:40] for name, values in found.items()})
    else:
        np.savez(sys.argv[1], **found)
    sys.stdout.write(f"{len(found)} arrays\n")
