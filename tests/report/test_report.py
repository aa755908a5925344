"""The report: it says what is so, escapes what it quotes, loads nothing, and survives degenerate tables."""

import base64
import json
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest
from scipy.stats import spearmanr

from vecuq import Settings, fit_ranker
from vecuq.data import demo_files
from vecuq.errors import MissingValueWarning, TableError
from vecuq.plots import MOST_POINTS, least_related
from vecuq.ranker import Diagnostics, meanings_of
from vecuq.report import build_report, summarise
from vecuq.report.summary import leading_columns, spearman
from vecuq.table import ScoreTable

SCORES = ["entropy", "mutual_information", "mahalanobis", "knn"]


def calibration(n_rows=200, names=("entropy", "knn")):
    rng = np.random.default_rng(0)
    return {name: rng.gamma(1.0 + k, size=n_rows) for k, name in enumerate(names)}


def new_rows(n_rows=60, names=("entropy", "knn"), **others):
    rng = np.random.default_rng(1)
    return pa.table({**others, **{name: 1.5 * rng.gamma(1.0 + k, size=n_rows) for k, name in enumerate(names)}})


def page_of(ranker, new, **options):
    return build_report(ranker, new, ranker.rank(new), title="A title", **options)


def summary_of(ranker, new, **options):
    return summarise(ranker, new, ranker.rank(new), title="A title", **options)


def text_of(page):
    body = re.sub(r"<style>.*?</style>", " ", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", body).split())


@pytest.fixture(scope="module")
def ranker():
    return fit_ranker(calibration())


@pytest.fixture(scope="module")
def demo():
    known, new = map(pc.read_csv, demo_files())
    return fit_ranker(ScoreTable.of(known, columns=SCORES)), new


# What the page says


def test_the_headline_counts_the_rows_above_the_threshold_and_those_expected(demo):
    ranker, new = demo
    above = int((ranker.uncertainty(new) > ranker.threshold()).sum())
    text = text_of(page_of(ranker, new))
    # Ten of 201 places lie above the threshold of 200 held-back rows at alpha = 0.05.
    assert f"{above} of 720 scored rows lie above the threshold; about {720 * 10 / 201:.0f} would" in text


def test_the_number_expected_is_the_number_seen_on_average_over_in_distribution_rows():
    seen, expected = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        ranker = fit_ranker(rng.gamma(1.0, size=(80, 2)), Settings(alpha=0.1, n_targets=64))
        said = summary_of(ranker, pa.table(dict(zip(("x0", "x1"), rng.gamma(1.0, size=(2, 300)), strict=True))))
        seen.append(said["n_above"])
        expected.append(said["expected"])
    assert np.mean(seen) == pytest.approx(np.mean(expected), rel=0.15)


def test_chance_is_a_valid_p_value_for_in_distribution_rows():
    chances = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        ranker = fit_ranker(rng.gamma(1.0, size=(60, 1)), Settings(alpha=0.2, n_targets=32))
        chances.append(summary_of(ranker, pa.table({"x0": rng.gamma(1.0, size=50)}))["chance"])
    assert np.mean(np.array(chances) <= 0.1) <= 0.1 + 3 * 0.03
    assert min(chances) < 0.3


def test_the_verdict_tells_shifted_rows_from_rows_like_the_calibration_rows(ranker):
    same = pa.table(calibration(100))
    shifted = pa.table({name: column + 5 for name, column in calibration(100).items()})
    assert "within what chance explains" in text_of(page_of(ranker, same))
    assert "This is more than chance explains" in text_of(page_of(ranker, shifted))


def test_correlations_with_the_order_agree_with_scipy(ranker):
    new = new_rows()
    order = ranker.uncertainty(new)
    said = summary_of(ranker, new)
    assert [row["spearman"] for row in said["relations"]] == pytest.approx(
        [spearmanr(new[name].to_numpy(), order).statistic for name in ("entropy", "knn")]
    )
    plain = ranker.scaler.transform(ranker.values_of(new)).sum(axis=1)
    assert said["plain_sum"] == pytest.approx(spearmanr(plain, order).statistic)


@pytest.mark.parametrize("scaling", ["featurewise", "global", "identity", "quantile"])
def test_the_plain_sum_is_of_min_max_scores_under_every_scaling(scaling):
    known, new = calibration(), new_rows()
    ranker = fit_ranker(known, Settings(scaling=scaling, holdback=0.0))
    low, high = (np.array([end(column) for column in known.values()]) for end in (np.min, np.max))
    plain = ((ranker.values_of(new) - low) / (high - low)).sum(axis=1)
    said = summary_of(ranker, new)["plain_sum"]
    assert said == pytest.approx(spearmanr(plain, ranker.uncertainty(new)).statistic)


def test_a_user_sees_that_the_order_is_close_to_the_plain_sum(demo):
    assert "the order is almost that of the plain sum" in text_of(page_of(*demo))


def test_the_most_uncertain_rows_come_first_with_id_score_p_value_and_leading_column(demo):
    ranker, new = demo
    ranking = ranker.rank(new)
    said = summary_of(ranker, new)["top"]
    order = np.argsort(-ranking.uncertainty, kind="stable")[:15]
    assert [row["row"] for row in said["rows"]] == order.tolist()
    assert said["others"] == ["id", "is_error", "is_ood"]
    first, place = said["rows"][0], int(order[0])
    assert first["others"][0] == new["id"][place].as_py()
    assert first["scores"] == [new[name][place].as_py() for name in SCORES]
    assert first["p_value"] == ranking.p_values[place]
    assert first["others"][0] in text_of(page_of(ranker, new))


def test_the_leading_column_is_the_one_that_why_names_first(demo):
    ranker, new = demo
    rows = ranker.rank(new).uncertainty.argsort()[::-1]
    said = {row["row"]: row["leading"] for row in summary_of(ranker, new)["top"]["rows"]}
    assert set(said.values()) > {"mahalanobis"}  # there is something to confuse
    sentences = dict(zip(rows.tolist(), ranker.why(new.take(rows)), strict=True))
    for row, leading in said.items():
        assert sentences[row].startswith(f"{leading} is ")


def test_the_leading_column_of_every_flagged_row_is_that_of_why():
    rng = np.random.default_rng(3)
    ranker = fit_ranker(rng.gamma(1.0, size=(300, 4)))
    new = rng.gamma(1.3, size=(400, 4))
    new[::7, 1] = np.nan
    flagged = new[ranker.flag(new, 0.3, missing="marginal")]
    named = leading_columns(ranker, flagged)
    assert len(flagged) > 60
    assert [
        name
        for name, why in zip(named, ranker.why(flagged, missing="marginal"), strict=True)
        if why.startswith(f"{name} is ")
    ] == named


def test_a_row_in_which_nothing_stands_out_has_no_leading_column(ranker):
    low = pa.table({"entropy": [1e-4], "knn": [1e-4]})
    assert ranker.why(low)[0].startswith("nothing stands out")
    assert summary_of(ranker, low)["top"]["rows"][0]["leading"] is None


def test_a_model_without_medians_has_no_leading_columns(ranker):
    old = replace(ranker, kept=replace(ranker.kept, centre=np.full(2, np.nan)))
    said = summary_of(old, new_rows())["top"]["rows"]
    assert {row["leading"] for row in said} == {None}
    assert page_of(old, new_rows()).startswith("<!doctype html>")


def test_whole_numbers_have_no_decimals_and_others_keep_theirs():
    rng = np.random.default_rng(0)
    known = {"n_trees_against": rng.poisson(10, 200).astype(float), "knn": rng.gamma(1.0, size=200)}
    ranker = fit_ranker(ScoreTable.of(known, flip=["n_trees_against"]))
    new = pa.table({"n_trees_against": [15, 3, 1_500], "knn": [2.0, 3.0, 4.5]})
    rows = {row["row"]: row["scores"] for row in summary_of(ranker, new)["top"]["rows"]}
    assert rows == {0: [15, 2.0], 1: [3, 3.0], 2: [1500, 4.5]}
    text = text_of(page_of(ranker, new))
    assert " 15 2.00" in text
    assert " 1,500 4.50" in text
    assert "15.0" not in text


@pytest.mark.parametrize(("scale", "style"), [(1.1, "few"), (3.0, "many")])
def test_the_headline_has_the_colour_of_an_alarm_only_beyond_chance(ranker, scale, style):
    rows = {name: scale * np.random.default_rng(2).gamma(1.0 + k, size=80) for k, name in enumerate(ranker.columns)}
    said = summary_of(ranker, pa.table(rows))
    assert said["n_above"] > said["expected"]  # more than expected in both cases
    assert (said["chance"] < 0.05) == (style == "many")
    assert f'<span class="{style}">{said["n_above"]} of 80</span>' in page_of(ranker, pa.table(rows))


def test_without_held_back_rows_nothing_says_that_the_headline_is_an_alarm():
    ranker = fit_ranker(calibration(), Settings.paper())
    assert '<span class="few">' in page_of(ranker, new_rows())


def test_the_plane_shows_the_two_columns_that_say_least_of_each_other():
    rng = np.random.default_rng(0)
    a, c = rng.normal(size=(2, 300))
    assert least_related(np.column_stack([a, np.exp(a), c])) == (0, 2)
    assert least_related(np.column_stack([np.ones(300), a, -a, a + 9 * c])) == (1, 3)


def test_the_evaluation_table_has_its_headings_and_three_decimals(ranker):
    rows = [{"score": "VecUQ", "ROC-AUC": 0.12345, "rows": 1200}, {"score": "sum", "extra": float("nan")}]
    text = text_of(page_of(ranker, new_rows(), evaluation=rows))
    assert "score ROC-AUC rows extra VecUQ 0.123 1,200 – sum – – –" in text


def test_without_an_evaluation_there_is_no_empty_table(ranker):
    assert "How well it finds" not in page_of(ranker, new_rows(), evaluation=[])


def test_every_setting_and_diagnostic_is_explained(ranker):
    meanings = meanings_of(Settings) | meanings_of(Diagnostics)
    every = Settings(weights={"a": 1.0, "b": 0.5}, column_groups=[["a"], ["b"]])
    assert set(meanings_of(Settings)) == set(every.to_dict())
    assert set(meanings_of(Settings)) - {"weights", "column_groups"} == set(ranker.settings.to_dict())
    unusual = {"held_by", "n_sampled", "column_groups"}
    assert set(meanings_of(Diagnostics)) - unusual == set(ranker.diagnostics.to_dict())
    sampled = replace(ranker.diagnostics, held_by="id", n_sampled=5)
    assert set(meanings_of(Diagnostics)) - {"column_groups"} == set(sampled.to_dict())
    text = text_of(page_of(ranker, new_rows()))
    assert all(meaning in text for meaning in (meanings["overshoot"], meanings["anchor_mass"]))


def test_flipped_columns_are_shown_as_they_came_and_correlate_as_uncertainty():
    known = {"confidence": 1 - 0.1 * np.random.default_rng(0).gamma(1.0, size=100)}
    ranker = fit_ranker(ScoreTable.of(known, flip=["confidence"]))
    new = pa.table({"confidence": [0.9, 0.2, 0.7, 0.6]})
    said = summary_of(ranker, new)
    assert said["top"]["rows"][0]["scores"] == [0.2]
    assert said["relations"][0]["spearman"] == pytest.approx(1.0)


def test_the_summary_is_plain_values_that_json_can_hold(ranker):
    new = new_rows(3, id=[1, 2, 3], when=pa.array([0, 1, 2], pa.timestamp("s")), tags=[["a"], ["b", "c"], None])
    said = summary_of(ranker, new, evaluation=[{"score": "x", "auc": np.float64("nan"), "rows": np.int64(3)}])
    assert json.loads(json.dumps(said, allow_nan=False)) == said


def test_columns_that_vecuq_itself_wrote_are_not_taken_for_ids(ranker):
    new = new_rows(2, id=["a", "b"], flagged=[True, False], why=["x", "y"])
    assert summary_of(ranker, new)["top"]["others"] == ["id"]


# Notes


def test_notes_are_silent_when_all_is_well(ranker):
    assert summary_of(ranker, new_rows())["notes"] == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"converged": False}, "did not converge"),
        ({"anchor_mass": 0.45}, "anchors carry 45% of the mass"),
        ({"constant_columns": ("flat",)}, "without influence: flat"),
        ({"monotone_violations": 0.12}, "In 12.0% of trials"),
        ({"n_held": 0}, "No calibration rows were held back"),
        ({"n_held": 12}, "12 held-back rows are too few"),
    ],
)
def test_a_note_is_given_when_something_deserves_it(ranker, change, words):
    scores = ranker.calibration_scores[-change.get("n_held", 0) :]
    told = replace(ranker, diagnostics=replace(ranker.diagnostics, **change), calibration_scores=scores)
    assert words in text_of(page_of(told, new_rows()))


def test_missing_values_are_counted_by_column(ranker):
    new = pa.table({"entropy": [0.5, None, 1.0, float("inf")], "knn": [1.0, 2.0, None, 3.0]})
    with pytest.warns(MissingValueWarning):
        ranking = ranker.rank(new)
    text = text_of(build_report(ranker, new, ranking, title="Gaps"))
    assert "3 of 4 rows have no score: values are missing or infinite (entropy in 2, knn in 1)" in text
    assert "of 1 scored row " in text


# Safety


def test_html_in_titles_cells_and_names_is_escaped():
    attack = "<img src=x onerror=alert(1)>\"'&"
    names = ("a<b>", "c</style><script>")
    ranker = fit_ranker(calibration(names=names))
    new = new_rows(5, names, **{"<i>id</i>": [attack] * 5})
    evaluation = [{"<u>score</u>": attack}]
    page = build_report(ranker, new, ranker.rank(new), title=attack, evaluation=evaluation)
    for raw in ("<img src=x", "<script", "<i>id", "<b>", "<u>score"):
        assert raw not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page


def test_the_page_loads_and_runs_nothing(demo):
    page = page_of(*demo)
    lean = re.sub(r"data:image/png;base64,[A-Za-z0-9+/=]+", "data:", page)
    assert not re.search(r"https?:|//|<script|<link|<iframe|@import|url\(|\son\w+=", lean)
    assert re.findall(r'src="([^"]*)"', lean) == ["data:", "data:"]
    assert "default-src 'none'" in lean


def test_the_images_are_png(demo):
    found = re.findall(r"data:image/png;base64,([A-Za-z0-9+/=]+)", page_of(*demo))
    assert [base64.b64decode(image)[:8] for image in found] == [b"\x89PNG\r\n\x1a\n"] * 2


def test_the_same_rows_give_the_same_page(demo):
    assert page_of(*demo) == page_of(*demo)


def test_very_long_texts_are_cut(ranker):
    page = page_of(ranker, new_rows(2, text=["word " * 100_000, "x" * 1_000_000]))
    assert "word word" in page
    assert "x" * 61 not in page
    assert len(page) < 1_000_000


def test_importing_vecuq_and_its_report_does_not_import_matplotlib():
    code = "import sys, vecuq, vecuq.report; sys.exit('matplotlib' in sys.modules or 'jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Degenerate tables


def test_one_column_is_drawn_against_the_uncertainty():
    ranker = fit_ranker(calibration(names=("only",)))
    new = new_rows(30, ("only",))
    assert summary_of(ranker, new)["drawn"] == ["only", "uncertainty"]
    assert "New rows by only and uncertainty" in page_of(ranker, new)


def test_one_row_is_enough(ranker):
    text = text_of(page_of(ranker, new_rows(1)))
    assert "of 1 scored row " in text
    assert "The most uncertain row" in text


def test_rows_without_any_score_give_a_page_that_says_so(ranker):
    new = pa.table({"entropy": [float("nan")] * 3, "knn": [1.0, 2.0, 3.0]})
    with pytest.warns(MissingValueWarning):
        ranking = ranker.rank(new)
    text = text_of(build_report(ranker, new, ranking, title="Nothing"))
    assert "None of the 3 new rows could be scored." in text
    assert "most uncertain" not in text


def test_no_rows_at_all_give_a_page_that_says_so(ranker):
    assert "The table of new rows is empty." in text_of(page_of(ranker, new_rows(0)))


def test_without_held_back_rows_the_page_has_no_p_values(demo):
    _, new = demo
    known = pc.read_csv(demo_files()[0])
    ranker = fit_ranker(ScoreTable.of(known, columns=SCORES), Settings.paper())
    said = summary_of(ranker, new)
    assert said["chance"] is None
    assert said["top"]["rows"][0]["p_value"] is None
    text = text_of(page_of(ranker, new))
    assert "p-value " not in text.replace("no p-values", "")
    assert "not guaranteed" in text


def test_a_constant_column_is_named_and_never_drawn():
    ranker = fit_ranker({**calibration(), "flat": np.ones(200)})
    new = new_rows(20, ("entropy", "knn", "flat"))
    said = summary_of(ranker, new)
    assert said["drawn"] == ["entropy", "knn"]
    assert "constant, left out" in text_of(page_of(ranker, new))


def test_very_many_and_very_far_rows_give_a_small_page(ranker):
    rng = np.random.default_rng(0)
    far = rng.gamma(1.0, size=(2, 50_000)) * 10.0 ** rng.integers(0, 300, size=50_000)
    page = page_of(ranker, pa.table(dict(zip(("entropy", "knn"), far, strict=True))))
    assert f"sample of {MOST_POINTS:,} rows is drawn" in text_of(page)
    assert len(page) < 1_500_000


def test_long_names_that_differ_at_the_end_can_be_told_apart_and_are_given_in_full():
    names = tuple("uncertainty_of_the_ensemble_" * 5 + f"member_{k}" for k in (1, 2))
    page = page_of(fit_ranker(calibration(names=names)), new_rows(20, names))
    shown = set(re.findall(r"<bdi title=[^>]*>([^<]*)</bdi>", page))
    assert {name[-7:] for name in shown} == {"ember_1", "ember_2"}
    assert max(map(len, shown)) == 60
    assert all(f'title="{name}"' in page for name in names)


@pytest.mark.parametrize("name", ["预测熵", "عدم اليقين", "\N{FIRE} \N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL}", "$x_1$"])
def test_the_page_writes_the_names_of_columns(name):
    names = (name, "knn")
    page = page_of(fit_ranker(calibration(names=names)), new_rows(20, names))
    assert f'<p class="axis across"><bdi>{name}</bdi> →</p>' in page


@pytest.mark.parametrize("letter", ["\x00", "\x1b", "\N{RIGHT-TO-LEFT OVERRIDE}", "\udc80"])
def test_a_letter_that_a_page_cannot_hold_is_replaced(ranker, letter):
    new = new_rows(3)
    page = build_report(ranker, new, ranker.rank(new), title=f"bad{letter}name")
    assert letter not in page
    assert "<title>bad\N{REPLACEMENT CHARACTER}name</title>" in page
    assert page.encode()


@pytest.mark.parametrize("name", ["$x_1$", "unclosed $ {", "名前", "🙂", "a\nb", "long " * 40, "%s", ""])
def test_any_column_name_can_be_drawn(name):
    ranker = fit_ranker(calibration(names=(name, "knn")))
    assert page_of(ranker, new_rows(20, (name, "knn"))).startswith("<!doctype html>")


def test_signed_scores_are_reported_as_outward_in_every_direction():
    ranker = fit_ranker(np.random.default_rng(0).normal(size=(200, 2)), Settings(reference="ball", n_targets=200))
    assert "uncertain in every direction outward" in text_of(page_of(ranker, new_rows(20, ("x0", "x1"))))


def test_a_ranking_of_other_rows_is_refused(ranker):
    with pytest.raises(TableError, match="5 rows and the ranking 3"):
        build_report(ranker, new_rows(5), ranker.rank(new_rows(3)), title="Mixed up")


def test_spearman_of_too_few_or_constant_values_is_none():
    assert spearman(np.array([1.0, 2.0]), np.array([1.0, 2.0])) is None
    assert spearman(np.ones(5), np.arange(5.0)) is None
    assert spearman(np.array([1.0, np.nan, 2.0, 3.0]), np.array([3.0, 9.0, 2.0, 1.0])) == pytest.approx(-1.0)
