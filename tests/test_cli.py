"""The command line: it says what it did, in words or in JSON, and agrees with Python to the bit."""

import errno
import inspect
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import numpy.testing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow.csv import read_csv

import vecuq
from vecuq import Settings, fit_ranker, load
from vecuq.cli import talk
from vecuq.cli.commands import COMMANDS
from vecuq.table import write_batches

VECUQ = Path(sys.executable).with_name("vecuq")


def save(path, columns):
    write_batches(path, pa.table(columns).to_batches())
    return path


def strict_json(text):
    """Parse JSON that must not hold NaN or Infinity."""
    return json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))


@pytest.fixture
def calibration(tmp_path, make_rows):
    """A table of calibration rows with ids, on disk."""
    return save(tmp_path / "calibration.parquet", {"id": [f"r{k}" for k in range(120)], **make_rows(120, 0)})


@pytest.fixture
def new(tmp_path, make_rows):
    """A table of new rows with labels, on disk."""
    return save(tmp_path / "new.parquet", {**make_rows(40, 1), "is_ood": [k % 2 for k in range(40)]})


def test_the_installed_command_shows_its_version():
    done = subprocess.run([VECUQ, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"vecuq {vecuq.__version__}\n"
    assert done.stderr == ""


def test_python_runs_the_package_as_the_command():
    done = subprocess.run([sys.executable, "-m", "vecuq", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"vecuq {vecuq.__version__}\n"


def words_of(shown):
    """The words of a help page, without the frames around them."""
    return " ".join(shown.replace("│", " ").split())


def test_help_lists_every_command_with_its_sentence(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = run("--help").stdout
    for name, entry in COMMANDS.items():
        assert f"{name} {entry.about}" in words_of(shown)
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize("command", COMMANDS)
def test_the_one_line_help_of_a_command_is_the_first_sentence_of_its_own(command):
    module, function = COMMANDS[command].place.split(":")
    documented = inspect.getdoc(getattr(import_module(f"vecuq.cli.{module}"), function))
    assert " ".join(documented.partition("\n\n")[0].split()) == COMMANDS[command].about


# Commands that print what they found, or keep a state.
NO_OUT = ("measures", "doctor", "info", "monitor", "audit", "live", "serve")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_on_80_columns(run, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f" {command} [OPTIONS]" in result.stdout
    assert COMMANDS[command].about in words_of(result.stdout)
    assert "<bool>" not in result.stdout
    assert "…" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert ("--out" in result.stdout) == (command not in NO_OUT)


def test_no_command_is_forgotten():
    from vecuq import cli

    places = {
        f"{path.stem}:{name}"
        for path in Path(cli.__file__).parent.glob("*.py")
        for name, found in vars(import_module(f"vecuq.cli.{path.stem}")).items()
        if inspect.isfunction(found) and found.__module__ == f"vecuq.cli.{path.stem}" and not name.startswith("_")
        if any("AsJson" in str(kind) for kind in found.__annotations__.values())
    }
    assert places <= {entry.place for entry in COMMANDS.values()}
    assert len(places) >= 11


def test_every_setting_of_the_method_is_an_option_of_fit(run):
    text = run("fit", "--help").stdout
    flags = {"random_state": "--seed"}
    for name in Settings.__dataclass_fields__:
        assert flags.get(name, "--" + name.replace("_", "-")) in text


def test_shell_completion_can_be_shown_and_completes_commands(run):
    text = run("--help").stdout
    assert "--install-completion" in text
    assert "--show-completion" in text
    asked = {"_VECUQ_COMPLETE": "complete_bash", "COMP_WORDS": "vecuq re", "COMP_CWORD": "1"}
    done = subprocess.run([VECUQ], capture_output=True, text=True, check=False, env={**os.environ, **asked})
    assert done.stdout.split() == ["report", "reproduce"]


USAGE = {
    "no such command": ["frobnicate"],
    "a missing argument": ["score", "model.vecuq"],
    "an unknown option": ["fit", "c.csv", "--frobnicate"],
    "a number that is none": ["fit", "c.csv", "--epsilon", "much"],
    "a number out of range": ["fit", "c.csv", "--epsilon", "-1"],
    "an unknown scaling": ["fit", "c.csv", "--scaling", "featurewize"],
    "an unknown reference": ["fit", "c.csv", "--reference", "betta"],
    "a wrong number of targets": ["fit", "c.csv", "--n-targets", "many"],
    "a false-alarm rate out of range": ["score", "m.vecuq", "n.csv", "--alpha", "1.5"],
    "an unknown study": ["reproduce", "toi"],
}


@pytest.mark.parametrize("words", USAGE.values(), ids=USAGE)
def test_wrong_usage_ends_with_exit_code_2(run, words):
    result = run(*words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Usage" in result.stderr


def test_wrong_usage_names_the_nearest_choice(run):
    assert "Did you mean 'featurewise'?" in " ".join(run("fit", "c.csv", "--scaling", "featurewize").stderr.split())


def test_fit_then_score_gives_the_bits_that_python_gives(run, tmp_path, calibration, new):
    assert run("fit", calibration, "-o", tmp_path / "m.vecuq").exit_code == 0
    ranking = fit_ranker(pq.read_table(calibration)).rank(pq.read_table(new))
    for out in ("ranked.parquet", "ranked.csv"):
        assert run("score", tmp_path / "m.vecuq", new, "-o", tmp_path / out, "--alpha", 0.1).exit_code == 0
    from_csv = read_csv(tmp_path / "ranked.csv").to_pandas()  # pandas 2 itself may lose the last bit
    for table in (pd.read_parquet(tmp_path / "ranked.parquet"), from_csv):
        npt.assert_array_equal(table["uncertainty"], ranking.uncertainty)
        npt.assert_array_equal(table["p_value"], ranking.p_values)
        npt.assert_array_equal(table["flagged"], ranking.p_values <= 0.1)
        assert list(table.columns) == ["entropy", "knn", "is_ood", "uncertainty", "p_value", "flagged"]


def test_without_names_the_outputs_lie_where_the_user_is(run, tmp_path, monkeypatch, calibration, new):
    monkeypatch.chdir(tmp_path)
    run("fit", calibration)
    run("score", "model.vecuq", new)
    run("report", "model.vecuq", new)
    assert {"model.vecuq", "ranked.parquet", "report.html"} <= {path.name for path in tmp_path.iterdir()}


def test_fit_says_which_columns_are_scores_and_which_are_not(run, tmp_path, calibration):
    result = run("fit", calibration, "-o", tmp_path / "m.vecuq", "--flip", "knn")
    *told, hint = result.stdout.splitlines()
    assert hint == f"next: vecuq score {tmp_path / 'm.vecuq'} NEW"
    lines = dict(line.split("  ", 1) for line in told)
    assert lines["score columns"] == "entropy, knn"
    assert lines["flipped"].strip() == "knn"
    assert lines["not scores"].strip() == "id"
    assert lines["rows"].strip() == "60 for the map, 60 held back for p-values"
    assert result.stderr == ""


def test_long_lines_are_not_broken_when_nobody_reads_them(run, tmp_path, model, new):
    out = tmp_path / ("x" * 150 + ".csv")
    assert run("score", model, new, "-o", out).stdout == f"40 rows scored -> {out}\n"


def test_columns_are_named_with_commas(run, tmp_path, calibration):
    run("fit", calibration, "-o", tmp_path / "m.vecuq", "--columns", " knn , entropy ")
    assert load(tmp_path / "m.vecuq").columns == ("knn", "entropy")


def test_a_wrong_name_to_flip_is_refused_with_the_right_one(refused, tmp_path, calibration):
    told = refused("fit", calibration, "-o", tmp_path / "m.vecuq", "--flip", "entropie")
    assert "which should be flipped" in told
    assert "Did you mean 'entropy'?" in told


def test_options_reach_the_model(run, tmp_path, calibration):
    words = ("--epsilon", 0.25, "--scaling", "quantile", "--reference", "beta(2, 5)", "--n-targets", 400, "--seed", 3)
    run("fit", calibration, "-o", tmp_path / "m.vecuq", *words)
    expected = Settings(epsilon=0.25, scaling="quantile", reference="beta(2, 5)", n_targets=400, random_state=3)
    assert load(tmp_path / "m.vecuq").settings == expected


def test_paper_is_the_papers_method_and_typed_options_rule_over_it(run, tmp_path, calibration):
    run("fit", calibration, "-o", tmp_path / "m.vecuq", "--paper")
    assert load(tmp_path / "m.vecuq").settings == Settings.paper()
    run("fit", calibration, "-o", tmp_path / "m.vecuq", "--paper", "--grid", "authors", "--overshoot", 0.5, "--seed", 1)
    expected = Settings.paper(grid="authors", overshoot=0.5, random_state=1)
    assert load(tmp_path / "m.vecuq").settings == expected


@pytest.mark.parametrize("name", ["model", "model.pkl", "model.tar.gz"])
def test_a_model_may_have_any_name_but_a_tables(run, refused, tmp_path, calibration, new, name):
    assert run("fit", calibration, "-o", tmp_path / name).exit_code == 0
    assert run("score", tmp_path / name, new, "-o", tmp_path / "o.csv").exit_code == 0
    assert "is the name of one" in refused("fit", calibration, "-o", tmp_path / "model.csv")


def test_a_false_alarm_rate_that_cannot_be_delivered_is_refused(refused, tmp_path, model, new):
    told = refused("score", model, new, "-o", tmp_path / "o.csv", "--alpha", 0.001)
    assert "--alpha 0.001 needs at least 999 held-back" in told


def test_flags_without_held_back_rows_are_refused_with_the_reason(run, refused, tmp_path, calibration, new):
    result = run("fit", calibration, "-o", tmp_path / "m.vecuq", "--holdback", 0)
    assert "none held back, so no p-values" in result.stdout
    told = refused("score", tmp_path / "m.vecuq", new, "-o", tmp_path / "o.csv", "--alpha", 0.1)
    assert "--holdback 0" in told


def test_fit_as_json(run, tmp_path, calibration):
    told = strict_json(run("fit", calibration, "-o", tmp_path / "m.vecuq", "--json").stdout)
    assert told["columns"] == ["entropy", "knn"]
    assert told["set_aside"] == ["id"]
    assert told["diagnostics"]["converged"] is True
    assert told["settings"] == Settings().to_dict()


def test_score_as_json(run, tmp_path, model, new):
    out = tmp_path / "o.csv"
    told = strict_json(run("score", model, new, "-o", out, "--alpha", 0.1, "--json").stdout)
    flagged = int(pd.read_csv(out)["flagged"].sum())
    assert told == {"out": str(out), "n_rows": 40, "n_missing": 0, "n_flagged": flagged}


def test_infinities_become_null_in_json(capsys):
    talk.print_json({"a": [float("inf"), {"b": float("nan")}], "c": (1.5,)})
    assert strict_json(capsys.readouterr().out) == {"a": [None, {"b": None}], "c": [1.5]}


def test_demo_runs_the_whole_job(run, tmp_path):
    told = strict_json(run("demo", "-o", tmp_path / "demo", "--json").stdout)
    left = sorted(path.name for path in (tmp_path / "demo").iterdir())
    assert left == ["calibration.csv", "model.vecuq", "new.csv", "ranked.csv", "report.html"]
    assert told["evaluation"][-1]["ROC-AUC out-of-distribution"] > 0.8


def test_the_three_commands_that_the_demo_names_work(run, tmp_path):
    shown = run("demo", "-o", tmp_path / "demo").stdout
    assert "Errors are looked for among in-distribution rows only." in shown
    named = [line.split()[1:] for line in shown.partition("Try next:")[2].splitlines() if line.startswith("  vecuq ")]
    assert [words[0] for words in named] == ["doctor", "score", "compare"]
    for words in named:
        done = run(*words)
        assert done.exit_code == 0, done.output
    flagged = pd.read_csv(tmp_path / "demo" / "flagged.csv")
    assert flagged["flagged"].any()
    assert "why" in flagged


def test_reproduce_toy_prints_the_papers_figures(run):
    told = strict_json(run("reproduce", "toy", "--json").stdout)
    assert told["study"] == "toy"
    numbers = json.dumps(told)
    assert "0.7659" in numbers
    assert "0.7103" in numbers
    assert "VecUQ" in run("reproduce", "toy").stdout


@pytest.fixture
def on_a_terminal(monkeypatch):
    """Let the command line believe that somebody is watching."""
    monkeypatch.setattr(talk.err, "_force_terminal", True)
    monkeypatch.setattr(talk.err, "is_interactive", True)


def test_bars_move_on_a_terminal_and_go_away(run, tmp_path, on_a_terminal, calibration, new):
    fitted = run("fit", calibration, "-o", tmp_path / "m.vecuq")
    assert fitted.exit_code == 0
    assert "marginal error" in fitted.stderr
    scored = run("score", tmp_path / "m.vecuq", new, "-o", tmp_path / "o.csv")
    assert "40 rows" in scored.stderr
    assert scored.stdout == f"40 rows scored -> {tmp_path / 'o.csv'}\n"


def test_a_bad_table_is_refused_on_a_terminal_too(run, tmp_path, on_a_terminal, model):
    (tmp_path / "n.parquet").write_bytes(b"nothing of the kind")
    result = run("score", model, tmp_path / "n.parquet", "-o", tmp_path / "o.csv")
    assert result.exit_code == 1
    assert "cannot be read as parquet" in " ".join(result.stderr.split())


def test_no_bars_are_drawn_into_a_file(run, tmp_path, model, new):
    assert run("score", model, new, "-o", tmp_path / "o.csv").stderr == ""


def test_a_command_that_is_stopped_leaves_nothing_behind(tmp_path, model):
    (tmp_path / "new.csv").write_text("entropy,knn\n0.5,1.5\n")
    slow = "import time; from vecuq.cli import main; from vecuq.table import as_csv;"
    slow += "as_csv._blocks = lambda *_: print('reading', flush=True) or time.sleep(60); main()"
    before = sorted(tmp_path.iterdir())
    words = ["score", model, tmp_path / "new.csv", "-o", tmp_path / "o.csv"]
    with subprocess.Popen([sys.executable, "-c", slow, *words], stdout=subprocess.PIPE) as job:
        assert job.stdout.readline() == b"reading\n"
        assert list(tmp_path.glob(".vecuq-*"))
        job.terminate()
        assert job.wait(120) == 143
    assert sorted(tmp_path.iterdir()) == before


def test_a_reader_that_leaves_early_gets_no_message(run, monkeypatch, model, new):
    def gone(*_, **__):
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr("vecuq.workflows.report", gone)
    result = run("report", model, new)
    assert (result.exit_code, result.stderr) == (141, "")


def test_a_confidence_that_is_not_flipped_gets_a_note(run, tmp_path, make_rows):
    rows = make_rows(40, 0)
    path = save(tmp_path / "c.csv", {"entropy": rows["entropy"], "confidence": rows["knn"]})
    assert "note: " in (note := run("fit", path, "-o", tmp_path / "m.vecuq").stderr)
    assert "'confidence' (a confidence: by its name)" in note
    assert "fit with --flip confidence" in note
    assert run("fit", path, "-o", tmp_path / "m.vecuq", "--flip", "confidence").stderr == ""


def test_names_that_look_like_markup_are_printed_as_they_are(run, tmp_path, make_rows):
    rows = make_rows(40, 0)
    path = save(tmp_path / "c.csv", {"[red]a[/red]": rows["entropy"], "b": rows["knn"], "y": np.arange(40) % 2})
    assert "score columns  [red]a[/red], b" in run("fit", path, "-o", tmp_path / "m").stdout
    assert "│ [red]a[/red]" in run("evaluate", path, "--ood", "y", "--resamples", 0).stdout


HOSTILE = "a\x1b[31mred\x07"


@pytest.mark.parametrize(
    "words",
    [
        ["fit", "t.parquet", "-o", "m.vecuq"],
        ["doctor", "t.parquet"],
        ["evaluate", "t.parquet", "--ood", "is_ood", "--flip", HOSTILE],
        ["compare", "t.parquet", "t.parquet", "--ood", "is_ood", "--resamples", "10"],
    ],
    ids=lambda words: words[0],
)
def test_names_of_columns_cannot_steer_the_terminal(run, tmp_path, monkeypatch, make_rows, words):
    monkeypatch.chdir(tmp_path)
    rows = make_rows(40, 0, names=(HOSTILE, "b\x9b31mred"))
    save(Path("t.parquet"), {**rows, "is_ood": [k % 2 == 0 for k in range(40)]})
    result = run(*words)
    assert result.exit_code == 0
    assert "a?[31mred?" in result.stdout
    assert {"\x1b", "\x07", "\x9b"}.isdisjoint(result.stdout + result.stderr)
