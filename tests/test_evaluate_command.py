"""`vecuq evaluate` and `vecuq compare`: how good scores are, in words, in JSON and as files."""

import json
import os
import re
import subprocess
import sys
from contextlib import suppress

import numpy as np
import numpy.testing as npt
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow.csv import read_csv

from vecuq import Settings, fit_ranker
from vecuq.baselines import list_baselines, mean_rank
from vecuq.data import demo_files
from vecuq.evaluation import (
    accuracy_coverage_area,
    brier_score,
    expected_calibration_error,
    prediction_rejection_curve,
    risk_coverage_curve,
    roc_auc,
)
from vecuq.table import write_batches

SCORES = ("entropy", "mutual_information", "mahalanobis", "knn")
CALIBRATION, NEW = demo_files()
LABELS = ("--error", "is_error", "--ood", "is_ood")
FEW = ("--columns", ",".join(SCORES), "--resamples", "40")


@pytest.fixture(scope="module")
def new():
    """The bundled new rows."""
    return pd.read_csv(NEW)


def estimates(told):
    return {(row["method"], row["task"], row["metric"]): row for row in told["estimates"]}


def test_every_score_and_the_uncertainty_are_evaluated_at_once(run, tmp_path, new):
    run("fit", CALIBRATION, "-o", tmp_path / "m.vecuq", "--columns", ",".join(SCORES))
    run("score", tmp_path / "m.vecuq", NEW, "-o", tmp_path / "ranked.parquet")
    told = json.loads(run("evaluate", tmp_path / "ranked.parquet", *LABELS, "--resamples", "40", "--json").stdout)
    found = estimates(told)
    ranked = pd.read_parquet(tmp_path / "ranked.parquet")
    assert {method for method, _, _ in found} == {*SCORES, "confidence", "uncertainty"}
    own = ranked[ranked.is_ood == 0]
    for name in (*SCORES, "uncertainty"):
        assert found[name, "ood", "roc_auc"]["value"] == roc_auc(ranked[name], ranked.is_ood)
        area = found[name, "selective", "accuracy_coverage_area"]
        assert area["value"] == pytest.approx(accuracy_coverage_area(own[name], own.is_error == 0), abs=1e-12)
        assert area["low"] <= area["value"] <= area["high"]
        assert area["n"] == len(own)


def test_right_answers_by_a_column_or_by_a_rule_are_the_complement_of_wrong_ones(run, tmp_path, new):
    path = tmp_path / "new.csv"
    new.assign(right=1 - new["is_error"], graded=0.9 - 0.5 * new["is_error"]).to_csv(path, index=False)
    said = [
        run("evaluate", path, *label, *FEW, "--json")
        for label in (("--wrong", "is_error"), ("--correct", "right"), ("--correct", "graded>=0.7"))
    ]
    by_wrong, by_right, by_rule = (estimates(json.loads(one.stdout)) for one in said)
    assert by_wrong == by_right == by_rule


def test_labels_of_errors_come_from_one_column(run):
    told = run("evaluate", NEW, "--wrong", "is_error", "--correct", "is_error")
    assert told.exit_code == 2
    assert "Labels of errors come from one column" in told.stderr


def test_a_score_that_is_upside_down_is_pointed_at(run):
    done = run("evaluate", NEW, *LABELS, "--metrics", "roc_auc", "--resamples", "40")
    assert "add --flip confidence" in done.stderr
    flipped = run("evaluate", NEW, *LABELS, "--metrics", "roc_auc", "--resamples", "40", "--flip", "confidence")
    assert "worse than chance" not in flipped.stderr


@pytest.fixture
def scored(run, tmp_path, new):
    """Score rows in which the one good column is a confidence, into a file of a kind; return its path."""

    def write(kind):
        rng = np.random.default_rng(0)
        known = pd.DataFrame({"knn": rng.gamma(1.0, size=200), "certainty": 1.0 - 0.01 * rng.gamma(1.0, size=200)})
        known.to_parquet(tmp_path / "known.parquet")
        is_ood = np.arange(200) < 60
        rows = pd.DataFrame({"knn": rng.gamma(1.0 + 0.3 * is_ood), "is_ood": is_ood.astype(int)})
        rows.assign(certainty=1.0 - 0.01 * rng.gamma(1.0 + 4.0 * is_ood)).to_parquet(tmp_path / "rows.parquet")
        run("fit", tmp_path / "known.parquet", "--flip", "certainty", "-o", tmp_path / "m.vecuq")
        run("score", tmp_path / "m.vecuq", tmp_path / "rows.parquet", "-o", tmp_path / f"scored.{kind}")
        return tmp_path / f"scored.{kind}"

    return write


OOD = ("--ood", "is_ood", "--metrics", "roc_auc", "--resamples", "40")


@pytest.mark.parametrize("kind", ["parquet", "feather", "arrows"])
def test_a_table_that_was_scored_with_flip_is_evaluated_with_it(run, scored, kind):
    path = scored(kind)
    done = run("evaluate", path, *OOD)
    assert done.stderr == ""
    assert "flipped, as in the scoring: certainty." in done.stdout
    assert "certainty" in next(line for line in done.stdout.splitlines() if "**" in line)
    told = json.loads(run("evaluate", path, *OOD, "--json").stdout)
    assert told["flipped"] == ["certainty"]
    assert told["doubted"] == []
    assert told == json.loads(run("evaluate", scored("csv"), *OOD, "--flip", "certainty", "--json").stdout)


def test_a_stated_direction_goes_before_that_of_the_table(run, scored):
    told = json.loads(run("evaluate", scored("parquet"), *OOD, "--flip", "", "--json").stdout)
    assert told["flipped"] == []
    assert estimates(told)["certainty", "ood", "roc_auc"]["value"] < 0.2


def test_the_direction_of_a_column_that_is_not_evaluated_does_not_matter(run, scored):
    done = run("evaluate", scored("parquet"), *OOD, "--columns", "knn")
    assert done.exit_code == 0
    assert "flipped" not in done.stdout


@pytest.mark.parametrize("resamples", ["0", "40"])
@pytest.mark.parametrize("out", ["scores.md", "scores.tex"])
def test_nothing_is_the_best_while_a_better_score_may_be_upside_down(run, scored, tmp_path, resamples, out):
    words = ("evaluate", scored("csv"), *OOD[:-1], resamples, "-o", tmp_path / out, "--force")
    done = run(*words)
    assert "**" not in done.stdout
    assert "certainty: worse than chance. If its direction is wrong, add --flip certainty." in done.stderr
    assert "No score is marked as the best while the direction of one is in doubt." in done.stderr
    assert not {"**", "textbf"} & set(re.findall(r"\*\*|textbf", (tmp_path / out).read_text()))
    settled = run(*words, "--flip", "")
    assert "uncertainty" in next(line for line in settled.stdout.splitlines() if "**" in line)
    assert "in doubt" not in settled.stderr


def test_a_column_of_noise_below_chance_takes_no_mark_away(run, tmp_path, new):
    new.assign(noise=np.where(new.is_ood == 1, 0.45, 0.55) + np.random.default_rng(0).normal(size=len(new))).to_csv(
        tmp_path / "n.csv", index=False
    )
    done = run("evaluate", tmp_path / "n.csv", *OOD, "--columns", "entropy,knn,noise")
    assert "**" in done.stdout
    assert "in doubt" not in done.stderr


def test_what_cannot_be_computed_is_missing_with_the_reason(run, tmp_path, new):
    new.assign(is_ood=1).to_csv(tmp_path / "ood.csv", index=False)
    done = run("evaluate", tmp_path / "ood.csv", *LABELS, *FEW)
    assert done.exit_code == 0
    assert "ood: every row is out of distribution" in done.stderr
    assert "0.5" not in done.stdout


def test_rows_without_a_score_are_left_out_for_all_and_counted(run, tmp_path, new):
    new.assign(knn=new.knn.where(new.index > 9)).to_csv(tmp_path / "gaps.csv", index=False)
    done = run("evaluate", tmp_path / "gaps.csv", *LABELS, *FEW)
    assert "10 of 720 rows were left out for all, having no score from knn (10)" in done.stderr


def test_selective_generation_is_evaluated_where_there_is_a_quality(run, tmp_path, new):
    new.assign(quality=1.0 - new.is_error).to_csv(tmp_path / "answers.csv", index=False)
    found = estimates(
        json.loads(run("evaluate", tmp_path / "answers.csv", "--quality", "quality", *FEW, "--json").stdout)
    )
    assert ("knn", "generation", "prediction_rejection_ratio") in found


@pytest.mark.parametrize(
    ("ending", "holds"), [("csv", "method,task,metric"), ("md", "| score |"), ("tex", r"\toprule")]
)
def test_an_evaluation_is_written_in_the_format_of_the_ending(run, tmp_path, ending, holds):
    out = tmp_path / f"evaluation.{ending}"
    run("evaluate", NEW, *LABELS, *FEW, "-o", out)
    assert holds in out.read_text()


def test_compare_fits_on_calibration_rows_alone_and_agrees_with_python(run, new):
    told = json.loads(run("compare", CALIBRATION, NEW, *LABELS, *FEW, "--json").stdout)
    found = estimates(told)
    calibration = pd.read_csv(CALIBRATION)[list(SCORES)]
    ours = fit_ranker(calibration, Settings()).uncertainty(new[list(SCORES)])
    ranks = mean_rank().fit(calibration).uncertainty(new[list(SCORES)])
    npt.assert_allclose(found["vecuq", "ood", "roc_auc"]["value"], roc_auc(ours, new.is_ood), atol=1e-12)
    npt.assert_allclose(found["mean_rank()", "ood", "roc_auc"]["value"], roc_auc(ranks, new.is_ood), atol=1e-12)
    methods = [line["method"] for line in told["comparison"]]
    assert methods == ["vecuq", "vecuq (paper)", *SCORES, *(f"{name}()" for name in list_baselines())]
    assert told["failed"] == {}


def test_a_comparison_ends_with_a_verdict_on_every_metric(run):
    words = ("compare", CALIBRATION, NEW, *LABELS, "--columns", ",".join(SCORES))
    told = json.loads(run(*words, "--resamples", "200", "--json").stdout)
    found, by_name = estimates(told), {verdict["metric"]: verdict for verdict in told["verdicts"]}
    assert list(by_name) == ["ood roc_auc", "error roc_auc", "selective accuracy_coverage_area"]
    best = by_name["ood roc_auc"]
    assert best["best"] == "entropy"
    assert best["value"] == found["entropy", "ood", "roc_auc"]["value"]
    assert "knn" not in best["not_separated"]
    shown = run(*words, "--resamples", "200").stdout
    assert "verdict: ood roc_auc: entropy is best (0.919)" in shown
    assert "vecuq is 0.018 behind, no more than chance explains." in shown
    assert "If all methods were equal, a table would show any with probability 0.05." in shown


def test_a_verdict_without_resamples_does_not_speak_of_chance_and_equal_methods_are_not_separated(run, tmp_path, new):
    words = ("--ood", "is_ood", "--columns", ",".join(SCORES))
    assert "it is not known whether" in run("compare", CALIBRATION, NEW, *words, "--resamples", "0").stdout
    rng = np.random.default_rng(0)
    new.assign(is_ood=rng.integers(2, size=len(new))).to_csv(tmp_path / "coin.csv", index=False)
    done = run("compare", CALIBRATION, tmp_path / "coin.csv", *words, "--resamples", "40", "--json")
    assert json.loads(done.stdout)["verdicts"][0]["not_separated"]
    assert "but chance explains its lead" in run("compare", CALIBRATION, tmp_path / "coin.csv", *words).stdout


@pytest.mark.parametrize("width", [60, 80, 100])
def test_on_a_narrow_terminal_no_name_and_no_number_is_cut(run, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    for words in (["evaluate", NEW], ["compare", CALIBRATION, NEW]):
        shown = run(*words, *LABELS, *FEW, "--flip", "knn").stdout
        tables = [line for line in shown.splitlines() if line[:1] in "┏┃┡│└"]
        assert "…" not in shown
        assert max(map(len, tables)) <= width
        names = {line.split("│")[1].strip() for line in tables if line.startswith("│")}
        assert {"mahalanobis", "mutual_information"} <= names
    assert {"mahalanobis()", "isolation_forest()"} <= names
    heads = " ".join(line for line in tables if line.startswith("┃"))
    assert all(head in heads for head in ("selective accuracy_coverage_area", "wins", "Pareto share"))


def test_a_real_terminal_of_80_columns_tells_all_heads_apart():
    pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    words = [sys.executable, "-m", "vecuq", "evaluate", NEW, *LABELS, "--resamples", "2", "--flip", "confidence"]
    plain = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    with subprocess.Popen(words, stdout=theirs, stderr=subprocess.DEVNULL, env=plain | {"TERM": "xterm"}) as running:
        os.close(theirs)
        shown = b"".join(_until_closed(ours)).decode()
    assert running.returncode == 0
    lines = re.sub("\x1b\\[[0-9;]*m", "", shown).splitlines()
    heads = " ".join(line for line in lines if line.startswith("┃"))
    assert all(f" coverage_at_{percent}_percent_error " in heads for percent in (1, 2, 5))
    assert max(map(len, lines)) <= 80


def _until_closed(terminal):
    """Yield what a program writes to a terminal; the end of the program is an error there."""
    with os.fdopen(terminal, "rb", buffering=0) as reading, suppress(OSError):
        while some := reading.read(65_536):
            yield some


def test_wins_and_losses_of_a_comparison_balance(run):
    told = json.loads(run("compare", CALIBRATION, NEW, *LABELS, *FEW, "--json").stdout)["comparison"]
    assert sum(line["wins"] for line in told) == sum(line["losses"] for line in told) > 0
    assert all(0.0 <= line["Pareto share"] <= 1.0 for line in told)
    assert max(line["Pareto share"] for line in told) > 0.0


def test_a_comparison_marks_the_best_and_the_second_best(run, tmp_path):
    done = run("compare", CALIBRATION, NEW, "--ood", "is_ood", *FEW, "-o", tmp_path / "c.tex")
    assert "** best, * second best" in done.stdout
    assert r"\textbf{0.919" in (tmp_path / "c.tex").read_text()


def test_the_same_seed_gives_the_same_intervals(run):
    one, two, other = (run("evaluate", NEW, *LABELS, *FEW, "--seed", seed, "--json").stdout for seed in ("3", "3", "4"))
    assert one == two != other


WRONG = {
    "no labels": (["evaluate", NEW], 2, "--error, --correct, --ood or --quality"),
    "a label that is not there": (["evaluate", NEW, "--ood", "nope"], 1, "nope"),
    "a label that is a score": (
        ["compare", CALIBRATION, NEW, "--ood", "knn", *FEW],
        1,
        "cannot be a label and a score",
    ),
    "a label that is no truth value": (["evaluate", NEW, "--ood", "entropy", "--columns", "knn"], 1, "must be 0 or 1"),
    "an unknown metric": (["evaluate", NEW, "--ood", "is_ood", "--metrics", "roc_auk"], 2, "roc_auc"),
    "an unknown ending": (["compare", CALIBRATION, NEW, "--ood", "is_ood", "-o", "x.doc"], 2, "csv, md, tex"),
    "a folder that is not there": (
        ["evaluate", NEW, "--ood", "is_ood", "-o", "no/such/x.csv"],
        2,
        "there is no folder",
    ),
    "a label among the scores": (
        ["evaluate", NEW, "--ood", "is_ood", "--columns", "knn,is_ood"],
        1,
        "label and a score",
    ),
    "curves without labels": (["evaluate", NEW, "--curves", "x.png"], 2, "--error, --correct, --ood or --quality"),
    "curves of out-of-distribution rows": (
        ["evaluate", NEW, "--ood", "is_ood", "--curves", "x.csv"],
        2,
        "--curves needs --error or --quality",
    ),
    "curves in an unknown format": (
        ["evaluate", NEW, "--error", "is_error", "--curves", "x.pdf"],
        2,
        "Curves are written as png, svg, csv",
    ),
    "curves in no folder": (
        ["evaluate", NEW, "--error", "is_error", "--curves", "no/such/x.png"],
        2,
        "there is no folder",
    ),
    "curves in place of the table": (
        ["evaluate", NEW, "--error", "is_error", "--curves", NEW],
        1,
        "choose another name",
    ),
    "curves in place of the numbers": (
        ["evaluate", NEW, "--error", "is_error", "-o", "x.csv", "--curves", "./x.csv"],
        2,
        "choose another name",
    ),
    "the name that others give a metric": (["evaluate", NEW, "--ood", "is_ood", "--metrics", "auroc"], 2, "'roc_auc'?"),
    "tables in place of the rows": (
        ["evaluate", NEW, "--ood", "is_ood", "-o", NEW],
        1,
        "one of the files that this job reads",
    ),
    "tables in place of the calibration rows": (
        ["compare", CALIBRATION, NEW, "--ood", "is_ood", "-o", CALIBRATION],
        1,
        "one of the files that this job reads",
    ),
    "too few resamples": (["evaluate", NEW, "--ood", "is_ood", "--resamples", "-1"], 2, "resamples"),
}


@pytest.mark.parametrize("words", WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_refused_with_one_clear_line(run, words):
    command, code, says = words
    done = run(*command)
    assert done.exit_code == code
    assert says in " ".join(done.stderr.replace("│", " ").split())
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_constant_and_infinite_scores_do_not_stop_a_comparison(run, tmp_path, new):
    rows = new.assign(knn=np.where(new.index < 3, np.inf, new.knn), mahalanobis=1.0)
    rows.to_csv(tmp_path / "odd.csv", index=False)
    done = run("compare", CALIBRATION, tmp_path / "odd.csv", "--ood", "is_ood", *FEW)
    assert done.exit_code == 0, done.stderr
    assert "ood: " in done.stderr


def test_a_column_that_is_called_like_a_method_stays_apart_from_it(run, tmp_path, new):
    names = {"knn": "vecuq", "entropy": "sum()"}
    for path in (CALIBRATION, NEW):
        pd.read_csv(path).rename(columns=names).to_csv(tmp_path / path.name, index=False)
    files = (tmp_path / CALIBRATION.name, tmp_path / NEW.name)
    words = ("--ood", "is_ood", "--columns", "vecuq,sum(),mahalanobis", "--resamples", "10", "--json")
    told = json.loads(run("compare", *files, *words).stdout)
    assert told["components"] == ["vecuq (column)", "sum() (column)", "mahalanobis"]
    found = estimates(told)
    assert found["vecuq (column)", "ood", "roc_auc"]["value"] == roc_auc(new.knn, new.is_ood)
    assert found["vecuq", "ood", "roc_auc"]["value"] != found["vecuq (column)", "ood", "roc_auc"]["value"]
    assert len(told["comparison"]) == 2 + 3 + len(list_baselines())


def test_one_column_may_serve_as_two_labels(run):
    done = run("evaluate", NEW, "--ood", "is_ood", "--error", "is_ood", *FEW)
    assert done.exit_code == 0, done.stderr


def test_without_resamples_nothing_is_called_a_win(run):
    words = ("--columns", ",".join(SCORES), "--resamples", "0", "--json")
    told = json.loads(run("compare", CALIBRATION, NEW, *LABELS, *words).stdout)["comparison"]
    assert {line["wins"] for line in told} == {line["losses"] for line in told} == {None}


def test_the_regret_is_what_is_lost_to_the_best_score(run):
    told = json.loads(run("compare", CALIBRATION, NEW, "--ood", "is_ood", *FEW, "--json").stdout)["comparison"]
    by_name = {line["method"]: line for line in told}
    best = max(by_name[name]["ood roc_auc"] for name in SCORES)
    assert by_name["entropy"]["regret"] == 0.0
    assert by_name["vecuq"]["regret"] == pytest.approx(best - by_name["vecuq"]["ood roc_auc"], abs=1e-12)


def test_a_flipped_score_that_is_upside_down_is_advised_against_flipping(run):
    done = run("evaluate", NEW, *LABELS, "--columns", "entropy", "--flip", "entropy", "--resamples", "40")
    assert "leave it out of --flip entropy" in done.stderr


def test_missing_rows_are_told_of_once(run, tmp_path, new):
    new.assign(knn=new.knn.where(new.index > 9)).to_csv(tmp_path / "gaps.csv", index=False)
    done = run("compare", CALIBRATION, tmp_path / "gaps.csv", *LABELS, *FEW)
    assert done.stderr.count("note:") == 1


def test_columns_of_whole_numbers_are_not_scores_and_that_is_said(run, tmp_path, new):
    new.assign(n_tokens=range(len(new))).to_csv(tmp_path / "more.csv", index=False)
    done = run("evaluate", tmp_path / "more.csv", *LABELS, "--resamples", "10")
    assert "Not evaluated, being whole numbers: n_tokens." in done.stderr
    assert "Not evaluated" not in run("evaluate", NEW, *LABELS, "--resamples", "10").stderr


# Curves


@pytest.fixture
def ranked(tmp_path, new):
    """The new rows with an uncertainty, a quality, and ten rows without a score."""
    path = tmp_path / "ranked.csv"
    gaps = new.assign(knn=new.knn.where(new.index > 9), uncertainty=new.entropy + new.mahalanobis)
    gaps.assign(quality=1.0 - new.is_error * new.entropy).to_csv(path, index=False)
    return path


def curves_of(path):
    return dict(list(read_csv(path).to_pandas().groupby(["task", "score"])))


def test_the_listed_curves_are_those_of_the_library_on_the_rows_that_were_evaluated(run, ranked, tmp_path):
    words = ("--quality", "quality", *LABELS, "--flip", "confidence", "--resamples", "0")
    assert run("evaluate", ranked, *words, "--curves", tmp_path / "curves.csv").exit_code == 0
    assert (tmp_path / "curves.csv").read_text().splitlines()[0].replace('"', "") == "task,score,share,value"
    found = curves_of(tmp_path / "curves.csv")
    rows = read_csv(ranked).to_pandas().dropna()
    own = rows[rows.is_ood == 0]
    names = (*SCORES, "confidence", "uncertainty")
    assert set(found) == {
        (task, name) for task in ("generation", "selective") for name in (*names, "best order", "chance")
    }
    for name in names:
        sign = -1.0 if name == "confidence" else 1.0
        for task, curve in (
            ("generation", prediction_rejection_curve(sign * rows[name], rows.quality)),
            ("selective", risk_coverage_curve(sign * own[name], own.is_error == 0)),
        ):
            npt.assert_array_equal(found[task, name].share, curve[0])
            npt.assert_array_equal(found[task, name].value, curve[1])
    best = prediction_rejection_curve(-rows.quality, rows.quality).quality
    npt.assert_array_equal(found["generation", "best order"].value, best)
    npt.assert_allclose(found["selective", "chance"].value, own.is_error.mean(), rtol=1e-12)


@pytest.mark.parametrize(
    ("ending", "first", "last"),
    [("png", b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"), ("svg", b"<?xml", b"</svg>\n"), ("SVG", b"<?xml", b"</svg>\n")],
)
def test_curves_are_drawn_whole_and_alike_each_time(run, ranked, tmp_path, ending, first, last):
    one, two = tmp_path / f"one.{ending}", tmp_path / f"two.{ending}"
    for out in (one, two):
        words = ("--error", "is_error", "--quality", "quality", "--columns", "entropy", "--resamples", "0")
        assert run("evaluate", ranked, *words, "--curves", out).exit_code == 0
    content = one.read_bytes()
    assert content == two.read_bytes()
    assert content.startswith(first)
    assert content.endswith(last)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["ranked.csv", one.name, two.name])


def test_curves_change_nothing_of_what_is_said(run, ranked, tmp_path):
    words = ("evaluate", ranked, *LABELS, *FEW, "--json")
    plain, drawn = run(*words), run(*words, "--curves", tmp_path / "curves.csv")
    assert (plain.stdout, plain.stderr) == (drawn.stdout, drawn.stderr)


def test_the_order_of_the_rows_does_not_show_in_the_curves(run, tmp_path):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.random(200), "uncertainty": rng.random(200), "good": rng.random(200)})
    rows.to_csv(tmp_path / "one.csv", index=False)
    rows.sample(frac=1.0, random_state=1).to_csv(tmp_path / "two.csv", index=False)
    for name in ("one", "two"):
        words = ("--quality", "good", "--resamples", "0", "--curves", tmp_path / f"{name}_curves.csv")
        run("evaluate", tmp_path / f"{name}.csv", *words)
    assert (tmp_path / "one_curves.csv").read_bytes() == (tmp_path / "two_curves.csv").read_bytes()


def test_columns_that_are_called_like_labels_or_lines_do_not_clash(run, tmp_path, new):
    names = {"knn": "quality", "entropy": "chance", "mahalanobis": "error"}
    new.rename(columns=names).to_csv(tmp_path / "odd.csv", index=False)
    words = ("--error", "is_error", "--columns", "quality,chance,error", "--resamples", "0")
    done = run("evaluate", tmp_path / "odd.csv", *words, "--curves", tmp_path / "curves.csv")
    assert done.exit_code == 0, done.stderr
    found = curves_of(tmp_path / "curves.csv")
    told = {"quality": "knn", "chance (column)": "entropy", "error": "mahalanobis"}
    assert {score for _, score in found} == {*told, "best order", "chance"}
    for name, column in told.items():
        npt.assert_array_equal(found["selective", name].value, risk_coverage_curve(new[column], new.is_error == 0).risk)


def test_a_label_that_is_called_uncertainty_is_no_score(run, tmp_path, new):
    new[["entropy", "knn"]].assign(uncertainty=new.is_error).to_csv(tmp_path / "odd.csv", index=False)
    words = ("--error", "uncertainty", "--resamples", "0", "--json", "--curves", tmp_path / "curves.csv")
    told = json.loads(run("evaluate", tmp_path / "odd.csv", *words).stdout)
    assert {method for method, _, _ in estimates(told)} == {"entropy", "knn"}
    assert {score for _, score in curves_of(tmp_path / "curves.csv")} == {"entropy", "knn", "best order", "chance"}


def test_what_fails_writes_no_curves(refused, tmp_path, new):
    new.assign(is_error=2).to_csv(tmp_path / "wrong.csv", index=False)
    told = refused("evaluate", tmp_path / "wrong.csv", "--error", "is_error", "--curves", tmp_path / "x.png")
    assert "must be 0 or 1" in told
    (tmp_path / "folder.png").mkdir()
    assert "is a folder" in refused("evaluate", NEW, *LABELS, *FEW, "--curves", tmp_path / "folder.png")


# Groups, probabilities, labels that look inverted


@pytest.fixture
def sessions(tmp_path):
    """Write rows of 30 sessions with a probability of being wrong; return the path of the table."""
    rng = np.random.default_rng(0)
    session = np.repeat(np.arange(30), 10)
    p_wrong = 0.6 * rng.random(300)
    is_error = (rng.random(300) < p_wrong).astype(int)
    shared = rng.normal(size=30)[session]
    rows = pd.DataFrame({"session": [f"s{k}" for k in session], "entropy": p_wrong + shared, "knn": rng.random(300)})
    path = tmp_path / "sessions.csv"
    rows.assign(uncertainty=rng.random(300) + p_wrong, p_wrong=p_wrong, is_error=is_error).to_csv(path, index=False)
    return path


def test_rows_of_a_group_are_drawn_together(run, sessions):
    words = ("evaluate", sessions, "--error", "is_error", "--resamples", "60")
    plain, grouped = (json.loads(run(*words, *more, "--json").stdout) for more in ((), ("--group", "session")))
    assert (plain["n_groups"], grouped["n_groups"]) == (None, 30)
    for told in (plain, grouped):
        assert {method for method, _, _ in estimates(told)} == {"entropy", "knn", "uncertainty"}
    one, two = estimates(plain), estimates(grouped)
    assert all(one[key]["value"] == pytest.approx(two[key]["value"], nan_ok=True) for key in one)
    assert one["entropy", "selective", "aurc"]["low"] != two["entropy", "selective", "aurc"]["low"]
    assert "95 % interval over 30 groups of rows" in run(*words, "--group", "session").stdout


def test_whole_numbers_may_name_groups_and_are_then_not_called_unread(run, sessions, tmp_path):
    rows = pd.read_csv(sessions)
    rows.assign(session=rows.session.str[1:].astype(int)).to_csv(tmp_path / "numbers.csv", index=False)
    words = ("evaluate", tmp_path / "numbers.csv", "--error", "is_error", "--resamples", "10", "--metrics", "roc_auc")
    assert "session" in run(*words).stderr
    assert "session" not in run(*words, "--group", "session").stderr


def test_a_comparison_knows_groups_of_the_test_rows(run, sessions, tmp_path):
    pd.read_csv(sessions).drop(columns="session").to_csv(tmp_path / "known.csv", index=False)
    words = ("--error", "is_error", "--columns", "entropy,knn", "--group", "session", "--resamples", "30")
    done = run("compare", tmp_path / "known.csv", sessions, *words)
    assert done.exit_code == 0, done.stderr
    assert "over 30 groups of rows" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--group", "sesion"), "Did you mean 'session'"),
        (("--group", "entropy", "--columns", "entropy"), "cannot be a group and a score at once"),
        (("--group", "gaps"), "have no group"),
    ],
)
def test_a_group_that_cannot_be_is_refused(refused, sessions, words, said):
    pd.read_csv(sessions).assign(gaps=["a", None] * 150).to_csv(sessions, index=False)
    assert said in refused("evaluate", sessions, "--error", "is_error", "--resamples", "10", *words)


def test_a_probability_of_being_wrong_is_compared_with_the_errors(run, sessions, tmp_path):
    rows = pd.read_csv(sessions)
    words = ("evaluate", sessions, "--error", "is_error", "--resamples", "10", "--metrics", "roc_auc")
    told = json.loads(run(*words, "--json").stdout)["calibration"]
    assert told["n"] == 300
    assert told["brier"] == pytest.approx(brier_score(rows.p_wrong, rows.is_error))
    assert told["ece"] == pytest.approx(expected_calibration_error(rows.p_wrong, rows.is_error))
    shown = run(*words, "-o", tmp_path / "tables.md").stdout
    assert (
        f"p_wrong: expected calibration error {told['ece']:.3f} (up to {told['ece_by_chance']:.3f} by chance" in shown
    )
    assert "Probability of being wrong (300 rows)" in shown
    assert "| p_wrong | wrong | rows |" in (tmp_path / "tables.md").read_text()
    run(*words, "-o", tmp_path / "tables.csv")
    lines = pd.read_csv(tmp_path / "tables.csv").set_index(["method", "metric"]).value
    assert lines["p_wrong", "brier_score"] == pytest.approx(told["brier"])
    assert lines["p_wrong", "expected_calibration_error"] == pytest.approx(told["ece"])
    assert "expected calibration error" not in run("evaluate", NEW, *LABELS, *FEW).stdout


def test_a_p_wrong_that_is_no_probability_is_refused(refused, sessions):
    pd.read_csv(sessions).assign(p_wrong=3.5).to_csv(sessions, index=False)
    assert "A probability must lie in [0, 1]; got 3.5." in refused("evaluate", sessions, "--error", "is_error")


def test_labels_that_look_inverted_are_pointed_at(run, tmp_path, new):
    new.assign(is_error=1 - new.is_error).to_csv(tmp_path / "inverted.csv", index=False)
    words = ("--error", "is_error", "--columns", ",".join(SCORES), "--metrics", "roc_auc", "--resamples", "40")
    said = "error: all scores are worse than chance. Perhaps the labels are inverted: 1 must mean that the prediction"
    assert said in run("evaluate", tmp_path / "inverted.csv", *words).stderr
    assert json.loads(run("evaluate", tmp_path / "inverted.csv", *words, "--json").stdout)["inverted_labels"] == [
        "error"
    ]
    assert "inverted" not in run("evaluate", NEW, *words).stderr
    assert "inverted" not in run("evaluate", NEW, *LABELS, "--metrics", "roc_auc", "--resamples", "40").stderr


def test_rows_without_positives_enough_have_no_false_positive_rate_and_say_why(run, tmp_path, new):
    few = pd.concat([new[new.is_ood == 0], new[new.is_ood == 1].head(12)])
    few.to_csv(tmp_path / "few.csv", index=False)
    done = run("evaluate", tmp_path / "few.csv", "--ood", "is_ood", *FEW)
    assert "ood: fpr_at_95_tpr needs 20 positive rows, there are 12" in done.stderr


@pytest.mark.parametrize("option", ["-o", "--curves"])
def test_names_that_a_spreadsheet_would_compute_are_quoted_on_request(run, tmp_path, make_rows, option):
    rows = make_rows(40, 0, names=("=cmd", "b"))
    write_batches(tmp_path / "t.parquet", pa.table({**rows, "wrong": [k % 2 for k in range(40)]}).to_batches())
    words = ("evaluate", tmp_path / "t.parquet", "--error", "wrong", "--resamples", 0, option, tmp_path / "o.csv")
    for more, cell in (((), "=cmd"), (("--no-formulas",), "'=cmd")):
        assert run(*words, *more).exit_code == 0
        assert {cell, f'"{cell}"'} & set((tmp_path / "o.csv").read_text().replace("\n", ",").split(","))
