"""The studies: what the paper prints comes out, and what it claims is checked on real ensembles."""

import math
import sys
from types import SimpleNamespace

import numpy as np
import numpy.testing as npt
import pytest

from vecuq import Settings, fit_ranker, workflows
from vecuq._draw import Spread
from vecuq.errors import VecuqError
from vecuq.evaluation import roc_auc
from vecuq.paper import STUDIES, ablation, extremes, placements, render_page, tasks
from vecuq.paper.ensembles import CALIBRATION_ROWS, DATASETS, LETTERS, group_scores, n_groups, read_logits
from vecuq.paper.extremes import compositions, keeps_order, tied_auc
from vecuq.paper.images import COMPONENTS, best_or_second, worse_than_worst
from vecuq.paper.study import printed_table
from vecuq.paper.toy import toy_scores


@pytest.fixture
def one_group(monkeypatch, paper_data):
    """Studies on the first group of networks only: the same code, a fifth of the time."""
    for room in (tasks, ablation, extremes, placements):
        monkeypatch.setattr(room, "n_groups", lambda *_: 1)


def all_figures(tree):
    """Yield every number of nested mappings and lists."""
    for value in tree.values() if isinstance(tree, dict) else tree:
        if isinstance(value, dict | list):
            yield from all_figures(value)
        else:
            yield float(value)


def test_the_command_line_knows_every_study_by_name():
    assert tuple(STUDIES) == workflows.STUDY_NAMES


def test_the_toy_gives_the_authors_digits():
    figures = STUDIES["toy"]().figures
    expected = {"misclassification": (0.765928, 0.444899, 0.710329), "ood": (0.098877, 0.999980, 0.999883)}
    for task, digits in expected.items():
        ours = [figures[task][name] for name in ("u1", "u2", "VecUQ-OT")]
        assert ours == pytest.approx(digits, abs=1e-5 / 2)


def test_the_rank_of_the_blobs_sees_errors_and_empty_places():
    figures = STUDIES["blobs"]().figures
    assert figures["entropy"]["nothing is there"] < 0.6  # confident where nothing is
    assert min(figures["VecUQ-OT"].values()) > 0.95


@pytest.mark.nightly
@pytest.mark.usefixtures("one_group")
def test_extremes_keep_the_base_order_on_real_scores():
    figures = STUDIES["extremes"]().figures
    assert len(figures) == 3
    for case in figures.values():
        assert all(case["order kept, VecUQ-OT"])
        assert all(case["order kept, VecUQ-OT (defaults)"])
        assert case["VecUQ-OT"] == case["base"] == case["VecUQ-OT (defaults)"]


@pytest.mark.parametrize("settings", [Settings.paper(), Settings(), Settings.paper(reference="exponential")])
@pytest.mark.parametrize("name", ["single component", "repeated five times", "with five constants"])
def test_one_signal_keeps_its_order_whatever_stands_beside_it(name, settings):
    data = toy_scores()
    calibration, new = data.calibration[:, 1], np.concatenate([data.test[:, 1], data.ood[:300, 1]])
    ranker = fit_ranker(compositions(calibration)[name], settings)
    assert keeps_order(new, ranker.uncertainty(compositions(new)[name]))


def test_a_constant_has_the_roc_auc_that_the_paper_prints_and_other_scores_keep_theirs():
    rng = np.random.default_rng(0)
    score, is_ood = rng.integers(0, 20, 400).astype(float), rng.random(400) < 0.3
    assert tied_auc(np.full(400, 3.0), is_ood) == 0.5
    assert tied_auc(score, is_ood) == pytest.approx(roc_auc(score, is_ood), abs=1e-12)


@pytest.mark.nightly
@pytest.mark.usefixtures("one_group")
def test_every_line_of_the_table_of_constants_has_a_figure():
    sheet = STUDIES["extremes"]().sheets[2]
    assert [row["Mean ROC AUC"] for row in sheet.rows if row["Measure"].startswith("Constant")] == [0.5] * 5


def test_keeps_order_can_fail():
    assert keeps_order(np.array([1.0, 2.0, 2.0]), np.array([5.0, 7.0, 7.0]))
    assert not keeps_order(np.array([1.0, 2.0, 2.0]), np.array([5.0, 7.0, 8.0]))
    assert not keeps_order(np.array([1.0, 2.0]), np.array([2.0, 1.0]))


@pytest.mark.nightly
@pytest.mark.usefixtures("one_group")
def test_on_images_the_rank_is_never_worse_than_its_worst_component():
    study = STUDIES["images"]()
    assert len(study.figures) == 12
    assert worse_than_worst(study.figures, "VecUQ-OT", COMPONENTS) == 0
    assert all(0.4 < figure <= 1.0 for figures in study.figures.values() for figure in figures.values())


@pytest.mark.nightly
@pytest.mark.usefixtures("one_group")
def test_no_choice_of_the_ablation_gives_nan_identity_scaling_included():
    study = STUDIES["ablation"]()
    assert [len(sheet.rows) for sheet in study.sheets] == [18] * 4 + [6]
    figures = list(all_figures(study.figures))
    assert len(figures) == 72 + 6
    assert not any(map(math.isnan, figures))


@pytest.mark.nightly
@pytest.mark.usefixtures("one_group")
def test_each_kind_of_risk_is_compared_under_four_rules():
    study = STUDIES["measures"]()
    assert set(study.figures) == {"total_1_2", "bayes_1", "excess_1_3"}
    for tasks_of_kind in study.figures.values():
        assert worse_than_worst(tasks_of_kind, "VecUQ-OT", ("Logscore", "Brier", "Spherical", "Zero-one")) == 0


def test_worse_than_worst_and_best_or_second_count_what_they_say():
    means = {
        "a": {"us": 0.5, "x": 0.6, "y": 0.7},
        "b": {"us": 0.65, "x": 0.6, "y": 0.7},
        "c": {"us": 0.9, "x": 0.6, "y": 0.7},
    }
    assert worse_than_worst(means, "us", ("x", "y")) == 1
    assert best_or_second(means, "us", ("x", "y")) == 2


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_release_holds_five_groups_of_four_members_that_are_good_enough(dataset, paper_data):
    with np.load(paper_data.ensemble_file(dataset), allow_pickle=False) as arrays:
        assert set(arrays.files) == {"train", "train_labels", "test", "test_labels", *DATASETS[dataset]}
        logits, labels = arrays["test"], arrays["test_labels"]
        assert all(np.isfinite(arrays[name]).all() for name in arrays.files)
    assert logits.shape == (5, 4, 10_000, 10)
    assert logits.dtype == np.float16
    accuracy = (logits.argmax(-1) == labels).mean(-1)
    assert accuracy.min() > {"cifar10": 0.70, "fashion_mnist": 0.88}[dataset]
    assert len(np.unique(accuracy)) > 10  # members of their own, not copies


@pytest.mark.usefixtures("paper_data")
def test_calibration_and_evaluation_rows_are_disjoint_and_no_out_of_distribution_row_calibrates():
    scores = group_scores("cifar10", 0)
    assert len(scores.calibration) == CALIBRATION_ROWS
    assert len(scores.calibration) + len(scores.test) == 10_000
    rows = {row.tobytes() for row in np.concatenate([scores.test, *scores.ood.values()])}
    shared = sum(row.tobytes() in rows for row in scores.calibration)
    assert shared <= 0.001 * CALIBRATION_ROWS  # two images may get the very same logits in float16


def test_all_logits_together_stay_below_forty_megabytes(paper_data):
    sizes = {name: paper_data.ensemble_file(name).stat().st_size for name in (*DATASETS, *LETTERS)}
    assert sum(sizes.values()) < 40e6
    assert sizes["letter"] < 3e6


def test_four_groups_of_five_are_the_same_networks_in_the_same_order(paper_data):
    assert [n_groups("letter", members) for members in (4, 5)] == [5, 4]
    fours, fives = (read_logits(paper_data.ensemble_file("letter"), members) for members in (4, 5))
    assert fives["test"].shape == (4, 5, *fours["test"].shape[2:])
    npt.assert_array_equal(fives["test"][0, 4], fours["test"][1, 0])
    npt.assert_array_equal(fives["test_labels"], fours["test_labels"])


def test_the_letters_are_twenty_classes_well_enough_learnt(paper_data):
    with np.load(paper_data.ensemble_file("letter"), allow_pickle=False) as arrays:
        assert set(arrays.files) == {"train", "train_labels", "test", "test_labels", *LETTERS["letter"]}
        logits, labels = arrays["test"], arrays["test_labels"]
    assert logits.shape == (5, 4, 2_500, 20)
    accuracy = (logits.argmax(-1) == labels).mean(-1)
    assert 0.85 < accuracy.min() < accuracy.max() < 0.95
    assert len(np.unique(accuracy)) > 10  # members of their own, not copies


@pytest.mark.nightly
@pytest.mark.usefixtures("one_group")
def test_on_letters_mahalanobis_fails_on_errors_and_the_rank_does_not():
    study = STUDIES["letters"]()
    assert len(study.figures) == 4
    errors = study.figures["Letters A-T [miscls]"]
    assert errors["mahalanobis"] < 0.65
    assert errors["VecUQ-OT"] > 0.85
    assert worse_than_worst(study.figures, "VecUQ-OT", COMPONENTS) == 0
    assert len(study.printed[0].rows) == 10


def test_an_older_distribution_of_the_data_gets_a_message_of_its_own(monkeypatch, tmp_path):
    older = SimpleNamespace(ensemble_file=lambda name: tmp_path / f"{name}.npz")
    monkeypatch.setitem(sys.modules, "vecuq_paper_data", older)
    with pytest.raises(VecuqError, match=r"older than this study: it has no letter\.npz"):
        n_groups("letter")


@pytest.mark.parametrize("name", ["images", "letters", "ablation", "extremes", "measures", "limitations", "text"])
def test_without_its_data_a_study_says_in_one_line_what_to_install(refused, monkeypatch, tmp_path, name):
    monkeypatch.setitem(sys.modules, "vecuq_paper_data", None)
    told = refused("reproduce", name, "-o", tmp_path / "out")
    assert "pip install ./paper-data" in told


def test_without_the_package_of_the_studies_one_line_says_what_to_install(refused, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "vecuq.paper", None)
    told = refused("reproduce", "toy", "-o", tmp_path / "out")
    assert "pip install ./packaging/vecuq-paper ./paper-data" in told


def test_printed_tables_hold_the_papers_numbers():
    ood = printed_table("ood", "OOD").rows
    assert ood[0]["Ours"] == Spread(0.918, 0.001)
    assert ood[-1]["mahalanobis"] == Spread(0.661, 0.008)
    assert printed_table("pareto", "Pareto").rows[0]["At Pareto Front (%)"] == 82.857
    assert printed_table("ablation_cifar10_mixed", "").rows[0]["GridSize"] == 5


def test_a_study_is_written_as_tables_pictures_and_one_page(tmp_path):
    workflows.reproduce("toy", tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    tables = {f"{stem}.{ending}" for stem in ("toy", "paper_toy") for ending in ("csv", "md", "tex")}
    pictures = {f"toy_{stem}.{ending}" for stem in ("bars", "data") for ending in ("png", "svg")}
    assert names == tables | pictures | {"index.html"}
    assert (tmp_path / "toy_bars.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "0.710329" in page
    assert "Mahalanobis" in page
    assert "<script" not in page


@pytest.mark.nightly
def test_the_same_study_gives_the_same_files(tmp_path):
    for name in ("one", "two"):
        workflows.reproduce("toy", tmp_path / name)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_the_page_escapes_what_a_study_says():
    study = STUDIES["toy"]()
    hostile = type(study)(**{**vars(study), "title": "<b>bold</b>", "pictures": ()})
    assert "&lt;b&gt;bold" in render_page([hostile])


def test_data_that_a_study_does_not_use_are_refused(refused, tmp_path):
    assert "'toy' does not use it" in refused("reproduce", "toy", "--out", tmp_path / "r", "--data-dir", tmp_path)
