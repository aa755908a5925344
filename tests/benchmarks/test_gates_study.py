"""The study of the gate counts what it says: on synthetic populations, in seconds."""

import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", autouse=True)
def benchmarks_can_be_imported():
    sys.path.insert(0, str(ROOT))
    yield
    sys.path.remove(str(ROOT))


def part(name):
    return import_module(f"benchmarks.gates.{name}")


def rows(n=3000, seed=0):
    """Three scores that rise with a hidden difficulty, which makes answers wrong."""
    rng = np.random.default_rng(seed)
    hidden = rng.random(n)
    x = hidden[:, None] + rng.gamma(1.0, 0.2, size=(n, 3))
    return {
        "x": x.astype(np.float32),
        "wrong": (rng.random(n) < 0.5 * hidden**2).astype(np.uint8),
        "columns": np.array(["msp", "entropy", "max_logit"]),
        "group": np.array(["a", "b", "c", "d"])[rng.integers(0, 4, n)],
    }


@pytest.fixture(scope="module")
def population():
    return part("population").population_of("made up", **rows())


def test_thresholds_are_those_of_the_product_and_of_the_gate(population):
    draws, rng = part("draws"), np.random.default_rng(0)
    for allowed in (0.2, 0.1):
        assert all(draws.agrees_with_the_product(population, 300, allowed, rng) for _ in range(10))
    assert draws.agrees_with_the_product(population, 500, 0.1, rng, gate=True)


@pytest.mark.nightly
def test_the_promise_is_kept_and_the_naive_threshold_breaks_it(population):
    promises = part("promises")
    cells = promises.study("vlm", [population], 400, labels=(500,))
    limits = promises.Limits.of(3, 400)
    for target in promises.TARGETS:
        assert promises.broken_of(cells, "vlm", "vecuq", target, 500)[1] <= limits.all_cells
        gate, best = (promises.mean_of(cells, "vlm", rule, target, 500) for rule in ("vecuq", "oracle"))
        assert gate <= best + 0.02
    assert promises.broken_of(cells, "vlm", "naive", 0.9, 500)[0] > 0.2
    assert promises.mean_of(cells, "vlm", "vecuq", 0.8, 500) > 0.5


def test_counts_from_the_multinomial_law_agree_with_counts_of_drawn_rows(population):
    draws, order = part("draws"), population.orders["vecuq"]
    rng = np.random.default_rng(3)
    many = draws.draw_counts(order, population.wrong, 200, 2000, rng)
    picked = rng.integers(0, len(population.wrong), (400, 200))
    drawn = np.array([(order.scores[one] <= order.ladder.thresholds[40]).sum() for one in picked])
    assert abs(many.accepted[:, 40].mean() - drawn.mean()) < 3 * drawn.std() / np.sqrt(400) + 0.5
    assert np.allclose(many.accepted.mean(axis=0) / 200, many.coverage, atol=0.01)


def test_the_oracle_is_the_largest_share_without_too_many_errors():
    oracle = part("draws").oracle
    wrong = np.array([False, False, True, False, True])
    assert oracle(np.array([1.0, 2.0, 3.0, 4.0, np.nan]), wrong, 0.25) == pytest.approx(0.8)
    assert oracle(np.array([1.0, 1.0, 1.0, 4.0, 5.0]), wrong, 0.2) == 0.0
    assert oracle(np.full(5, np.nan), wrong, 0.5) == 0.0


def test_the_average_promise_is_kept_in_batches_of_one_and_of_many(population):
    average = part("average")
    found = average.study_batches("vlm", [population], (0.95,), 300, sizes=(1, 50))
    assert all(one.excess < 4 for one in found)
    assert found[0].pooled > found[1].pooled  # rows of many small batches together are wrong more often


def test_a_certificate_per_category_is_kept(population):
    found = part("categories").study_by(population, 1200, 0.2, 60)
    assert found.broken_of_certified <= found.limit_of_certified
    assert 0 < found.coverage_together <= found.coverage <= found.oracle + 0.02


def test_the_guard_changes_next_to_nothing_on_categories_that_labels_never_saw():
    made = rows()
    found = part("categories").study_unseen(made["x"], made["wrong"], made["group"], labels=(400,), draws=100)
    assert found["unseen", 400].coverage.mean() == pytest.approx(found["guarded", 400].coverage.mean(), abs=0.02)


def test_holm_rejects_as_in_the_textbook():
    holm = part("mapie_control").holm
    p_values = np.array([[0.01, 0.04, 0.03, 0.005], [0.2, 0.001, 0.9, 0.5]])
    assert holm(p_values, 0.05).tolist() == [[True, False, False, True], [False, True, False, False]]


def test_mapie_itself_covers_what_the_study_says(population):
    pytest.importorskip("mapie")
    same = part("mapie_control").same_as_mapie
    assert all(same(population, 300, 0.1, np.random.default_rng(k)) for k in range(3))


@pytest.mark.nightly
def test_a_split_of_the_labels_keeps_the_promise_too(population):
    rivals = part("rivals")
    for rule in (rivals.logistic, rivals.best_order):
        found = rule(population, 400, 0.1, 40, np.random.default_rng(0))
        assert found.broken.mean() <= 0.1 + 3 * np.sqrt(0.09 / 40)
        assert found.coverage.mean() > 0.2


def test_chosen_labels_are_honest(population):
    asking = part("asking")
    for way in (asking.by_region, asking.by_weighted_bets):
        found = way(population.orders["vecuq"], population.wrong, 0.1, 300, np.random.default_rng(0))
        assert found.broken.mean() <= 0.1 + 3 * np.sqrt(0.09 / 300)


@pytest.mark.nightly
def test_page_and_figure_come_from_one_command(tmp_path, monkeypatch, capsys):
    main = part("__main__")
    for family in ("mcq", "vlm"):
        made = {f"one/{name}": values for name, values in rows(600).items()}
        if family == "mcq":
            made["one/columns"] = np.array(["msp_direct", "entropy", "change"])
        np.savez(tmp_path / f"{family}.npz", **made)
    monkeypatch.setattr(main, "BY_LABELS", (500,))
    monkeypatch.setattr(part("categories"), "SPLITS", 2)
    monkeypatch.setattr(main, "find_spec", lambda name: None)
    out, figure = tmp_path / "GATES.md", tmp_path / "gate.png"
    monkeypatch.setattr(
        "sys.argv", ["gates", "--data", str(tmp_path), "--draws", "20", "--out", str(out), "--figure", str(figure)]
    )
    main.main()
    page = out.read_text()
    assert "rank: its data are not there" in page
    assert "MAPIE is not installed" in page
    assert "![Certified coverage" in page
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert "written" in capsys.readouterr().out


def test_without_data_the_command_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["gates", "--data", str(tmp_path)])
    part("__main__").main()
    assert "Nothing to measure" in capsys.readouterr().out
