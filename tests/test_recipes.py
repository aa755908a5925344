"""The snippets of docs/recipes.md and docs/export.md run as they stand; scores are the library's to the bit."""

import re
from pathlib import Path

import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest

from vecuq import ScoreTable, fit_ranker, load

DOCS = Path(__file__).parents[1] / "docs"
NAMES = ["entropy", "knn", "msp"]


def snippets(page):
    """Return the Python snippets of a page by the heading above each."""
    text = (DOCS / page).read_text("utf-8")
    return dict(
        re.findall(r"^## ([\w ]+)[^\n]*\n(?:(?!^## ).)*?^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    )


@pytest.fixture
def ranked(tmp_path, monkeypatch):
    """Put a model and new rows into a folder; return what the library says of them."""
    rng = np.random.default_rng(0)
    ranker = fit_ranker(ScoreTable(NAMES, rng.gamma(1.0, size=(400, 3))).flip(["msp"]))
    new = pd.DataFrame(rng.gamma(1.2, size=(70_001, 3)), columns=NAMES)
    new.insert(0, "id", np.arange(len(new)))
    new.loc[5, "knn"] = np.nan
    new.loc[9, "entropy"] = np.inf
    monkeypatch.chdir(tmp_path)
    ranker.save("model.vecuq")
    new.to_parquet("new.parquet", index=False)
    new.to_csv("new.csv", index=False)
    return ranker.rank(new, warn=False)


def run(page, heading):
    exec(compile(snippets(page)[heading], page, "exec"), {})  # noqa: S102 - our own text


def test_every_recipe_is_run_by_a_test():
    assert list(snippets("recipes.md")) == ["Polars", "DuckDB", "pandas"]
    assert all(len([line for line in one.splitlines() if line]) <= 13 for one in snippets("recipes.md").values())


def test_polars_scores_as_the_library_does_in_a_lazy_query(ranked):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    run("recipes.md", "Polars")
    found = polars.read_parquet("ranked.parquet")
    assert found.columns == ["id", *NAMES, "uncertainty", "p_value"]
    npt.assert_array_equal(found["uncertainty"].to_numpy(), ranked.uncertainty)
    npt.assert_array_equal(found["p_value"].to_numpy(), ranked.p_values)
    assert found["uncertainty"].null_count() == 2


def test_duckdb_scores_as_the_library_does(ranked):
    pytest.importorskip("duckdb", reason="duckdb is not installed")
    run("recipes.md", "DuckDB")
    found = pd.read_parquet("ranked.parquet").sort_values("id")
    npt.assert_array_equal(found["uncertainty"].to_numpy(), ranked.uncertainty)


@pytest.mark.filterwarnings("ignore::vecuq.errors.MissingValueWarning")
def test_pandas_scores_a_file_in_chunks_as_the_library_does(ranked):
    run("recipes.md", "pandas")
    whole = load("model.vecuq").rank(pd.read_csv("new.csv"))  # as this pandas reads the numbers
    written = pd.read_csv("ranked.csv", dtype=str, keep_default_na=False)
    for name, ours in (("uncertainty", whole.uncertainty), ("p_value", whole.p_values)):
        npt.assert_array_equal([float(one or "nan") for one in written[name]], ours)
    npt.assert_allclose(whole.uncertainty, ranked.uncertainty, rtol=1e-13)


def test_the_snippet_about_onnx_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).gamma(1.0, size=(400, 2))
    fit_ranker(ScoreTable(["entropy", "knn"], rows)).to_onnx("model.onnx")
    run("export.md", "ONNX")
    assert capsys.readouterr().out.startswith("['entropy', 'knn'] []")
