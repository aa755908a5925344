"""Command lines: each command with options drawn from its real parameters, on files good, odd and absent."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

from hypothesis import strategies as st

# What each positional argument is about, by its name in the help; the first files are the right ones.
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "CALIBRATION": (
        "calibration.parquet",
        "calibration.parquet",
        "labelled.csv",
        "sketch.vecuq",
        "labelled_answers.jsonl",
    ),
    "NEW": ("new.csv", "labelled.csv", "calibration.parquet"),
    "MODEL": (
        *("model.vecuq", "model.vecuq", "model.vecuq", "pipeline.vecuq"),
        *("answer_pipeline.vecuq", "monitor.vecuq", "gate.vecuq", "estimator_pipeline.vecuq"),
    ),
    "STREAM": ("new.csv", "labelled.csv"),
    "TEST": ("labelled.csv", "labelled.csv", "new.csv"),
    "TABLE": ("labelled.csv", "labelled.csv", "new.csv"),
    "OUTPUTS": ("outputs.npz", "answers.jsonl", "train.npz"),
    "QUESTIONS": ("questions.jsonl",),
    "FILE": ("model.vecuq", "pipeline.vecuq", "monitor.vecuq", "sketch.vecuq", "gate.vecuq", "live.vecuq"),
    "LABELLED": ("judged.csv", "judged.csv", "labelled.csv"),
    "LATER": ("judged.csv", "judged.csv", "new.csv"),
    "GATE": ("gate.vecuq", "gate.vecuq", "model.vecuq"),
    "STORE": ("service.sqlite", "service.sqlite", "gate.vecuq", "notes.txt"),
    "LIVE": ("live.vecuq", "live.vecuq", "gate.vecuq"),
    "STUDY": ("nothing", "tay", ""),
}
ODD_FILES = (
    "notes.txt",
    "absent.csv",
    ".",
    "",
    "-",
    "*.csv",
    "new.csv.",
    "\x00",
    "x" * 300,
    "/dev/null",
    "nowhere/x.csv",
)
ODD_WORDS = (
    *(
        "0",
        "1",
        "-1",
        "0.5",
        "1e-300",
        "1e300",
        "nan",
        "inf",
        "-inf",
        "2",
        "10",
        "1_0",
        "0x1",
        "٣",
        "1,5",
        "99999999999999",
    ),
    *(
        "",
        " ",
        "x",
        "entropy",
        "knn",
        "entropy,knn",
        "is_ood",
        "quality",
        '"',
        "a,b",
        "=1",
        "\x1b[31m",
        "\ud800",
        "auto",
        "all",
    ),
    *(
        "none",
        "None",
        "True",
        "beta(2, 5)",
        "beta(0, 0)",
        "beta(",
        "exponential(nan)",
        "ball",
        "@notes.txt",
        "@",
        "roc_auc",
    ),
)
# Options that keep a command short; a drawn line has them unless it names the option itself.
SHORT = {
    "ask": ("--tries", "1", "--timeout", "1"),
    "compare": ("--resamples", "5"),
    "evaluate": ("--resamples", "5"),
    "serve": ("--port", "0"),
}
# Values that only cost time: most sweeps of a solver, resamples, processes.
_COSTLY = {
    "--resamples": ("0", "1", "7", "-1", "x"),
    "--jobs": ("1", "0", "x"),
    "--max-iter": ("1", "50", "0", "x"),
    "--threads": ("1", "0"),
}
_OUT = {
    "fit": "m.vecuq",
    "score": "ranked.csv",
    "report": "report.html",
    "evaluate": "tables.csv",
    "compare": "tables.md",
    "measure": "scores.csv",
    "ask": "answers2.jsonl",
    "gate": "g.vecuq",
    "export": "model.json",
    "card": "card.html",
    "sample": "drawn.csv",
    "feedback": "feedback.csv",
}
# Lines of each command that work, on the files of `vecuq.testing.workspace()`.
GOOD_LINES = (
    "measure outputs.npz --train train.npz -o scores.csv",
    "measure answers.jsonl --jobs 1 -o scores.csv",
    "measure answers.jsonl --explain --json",
    "measures",
    "doctor calibration.parquet new.csv",
    "fit calibration.parquet -o m.vecuq",
    "fit labelled_answers.jsonl --wrong label --accuracy 0.7 --by topic --jobs 1 -o bot.vecuq",
    "score answer_pipeline.vecuq labelled_answers.jsonl --keep label --explain --jobs 1 -o decided.csv",
    "score model.vecuq new.csv -o ranked.csv",
    "score model.vecuq labelled.csv --alpha 0.1 --explain --sort -o ranked.jsonl",
    "score model.vecuq new.csv --select bh --alpha 0.1 --missing marginal -o -",
    "score model.vecuq calibration.parquet -o ranked.jsonl",
    "score model.vecuq new.csv --no-formulas -o ranked.tsv",
    "score pipeline.vecuq outputs.npz -o ranked.npz",
    "rank calibration.parquet new.csv -o folder",
    "report model.vecuq new.csv",
    "report model.vecuq calibration.parquet -o report.html",
    "report model.vecuq labelled.csv --ood is_ood -o report.html",
    "report model.vecuq labelled.csv --quality quality --by id --alpha 0.2 --table flagged.csv -o report.html",
    "evaluate labelled.csv --ood is_ood --resamples 5",
    "evaluate labelled.csv --quality quality --resamples 5 --curves curves.svg -o tables.md",
    "compare calibration.parquet labelled.csv --ood is_ood --resamples 5",
    "gate model.vecuq judged.csv --correct is_correct --accuracy 0.7 -o g.vecuq",
    "gate model.vecuq judged.csv --correct is_correct --accuracy 0.7 --by topic --picture p.svg -o g.vecuq --json",
    "gate model.vecuq judged.csv --correct is_correct --plan",
    "gate answer_pipeline.vecuq labelled_answers.jsonl --wrong label --accuracy 0.7 -o g.vecuq",
    "audit answer_pipeline.vecuq labelled_answers.jsonl --wrong label",
    "sample new.csv -n 5 -o drawn.csv",
    "audit gate.vecuq judged.csv --correct is_correct --by topic",
    "score gate.vecuq judged.csv --by topic -o decided.csv",
    "live live.vecuq",
    "live live.vecuq audited.csv --correct is_correct --skip-unknown --json",
    "live live.vecuq --recalibrate gate.vecuq",
    "card gate.vecuq -o card.html",
    "info model.vecuq",
    "export gate.vecuq --no-p-values -o model.js",
    "export model.vecuq -o model.json --json",
    "info monitor.vecuq --json",
    "serve model.vecuq bot=answer_pipeline.vecuq --port 0 --check",
    "feedback service.sqlite --kind review -o feedback.csv",
    "monitor model.vecuq new.csv --state s.vecuq",
    "monitor model.vecuq labelled.csv --state monitor.vecuq --json",
    "demo -o folder",
    "reproduce toy",
)


@lru_cache
def parameters(command: str) -> tuple[Any, ...]:
    """Return the real parameters of a command."""
    import typer

    from vecuq.cli import app

    group: Any = typer.main.get_command(app)
    _, found, _ = group.resolve_command(typer.Context(group), [command])
    return tuple(found.params)


@lru_cache
def command_names() -> tuple[str, ...]:
    """Return the names of all commands."""
    import typer

    from vecuq.cli import app

    group: Any = typer.main.get_command(app)
    return tuple(group.commands)


# Mostly few: a line of many odd options is refused for the first.
_how_many = st.sampled_from((0, 0, 0, 1, 1, 2, 3))


@st.composite
def command_lines(draw: st.DrawFn, command: str) -> list[str]:
    """Return a strategy of command lines of one command, for the files of ``vecuq.testing.workspace()``.

    Parameters
    ----------
    command
        The name of a command, such as ``"score"``.
    """
    words = [command]
    options = [one for one in parameters(command) if _is_option(one)]
    for argument in parameters(command):
        if not _is_option(argument):
            words += _argument(draw, argument)
    for _ in range(draw(_how_many) if options else 0):
        words += _option(draw, command, draw(st.sampled_from(options)))
    if command == "ask" and "--model" not in words:
        words += ["--model", draw(st.sampled_from(("m", "notes.txt", "absent.gguf")))]
    if command == "ask" and "--url" not in words and draw(st.booleans()):
        words += [
            "--url",
            draw(st.sampled_from(("http://127.0.0.1:9/v1", "x", "http://[", "ftp://x", "http://127.0.0.1:99999"))),
        ]
    if command in ("evaluate", "compare") and draw(st.integers(0, 3)):
        words += draw(st.sampled_from((("--ood", "is_ood"), ("--error", "is_ood"), ("--quality", "quality"))))
    if command == "serve":  # which would not end by itself
        words += ["--check"]
    short = SHORT.get(command, ())
    words += [
        word for name, value in zip(short[::2], short[1::2], strict=True) if name not in words for word in (name, value)
    ]
    return [word for word in words if "\x00" not in word and not _is_half(word)]


def _is_option(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "option")


def _is_half(word: str) -> bool:
    """Whether a word has half a character, which no shell can hand over."""
    return any("\ud800" <= letter <= "\udfff" for letter in word)


def _argument(draw: st.DrawFn, argument: Any) -> list[str]:
    known = ARGUMENTS.get(argument.metavar or "")
    if known is None:
        raise LookupError(f"Add files for the argument {argument.metavar} to vecuq/testing/hostile/commands.py.")
    if not argument.required and draw(st.booleans()):
        return []
    several = draw(st.integers(1, 2)) if argument.nargs == -1 else 1
    right = st.sampled_from(known)
    files = st.one_of(right, right, right, right, right, st.sampled_from(ODD_FILES))
    return [draw(files) for _ in range(several)]


def _option(draw: st.DrawFn, command: str, option: Any) -> list[str]:
    name = draw(st.sampled_from([*option.opts, *option.secondary_opts]))
    if getattr(option, "is_flag", False):
        return [name]
    return [name, draw(_values(command, option))]


@cache
def _values(command: str, option: Any) -> st.SearchStrategy[str]:
    """Return values for an option: those that its help names, odd ones, and files."""
    costly = next((_COSTLY[name] for name in option.opts if name in _COSTLY), None)
    if costly:
        return st.sampled_from(costly)
    if "--out" in option.opts:
        right = _OUT.get(command, "out")
        return st.sampled_from(
            (right, right, "new.csv", "model.vecuq", "monitor.vecuq", "notes.txt", "o.npz", "o.jsonl.gz", *ODD_FILES)
        )
    named = re.findall(r"[a-z][a-z_0-9]+", f"{option.metavar or ''} {option.help or ''} {option.default or ''}")
    words = st.sampled_from(tuple(dict.fromkeys(named)) or ("x",))
    files = st.sampled_from(("new.csv", "labelled.csv", "monitor.vecuq", "notes.txt", "state2.vecuq", *ODD_FILES))
    usual = words if option.default in (None, ()) else st.just(str(option.default))
    return st.one_of(usual, words, words, st.sampled_from(ODD_WORDS), st.sampled_from(ODD_WORDS), files)
