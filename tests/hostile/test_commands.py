"""Every command, with options drawn from its real ones, on good, hostile and absent files: it keeps its manners."""

import io
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import typer
from damage import as_json, damaged
from hostile_files import table_files
from hunting import hunt
from hypothesis import strategies as st
from manners import check_manners, run_command
from saved_kinds import labels, logits, rows
from test_saved import content, lying_files

from good_answers import sampled_answers
from vecuq.cli import app

GROUP = typer.main.get_command(app)
COMMANDS = sorted(set(GROUP.commands) - {"demo", "reproduce"})  # which take seconds, and read nothing
SAVED = sorted(path.name for path in (Path(__file__).parents[1] / "golden" / "saved_0_2_0").glob("*.vecuq"))
# What each positional argument is about, by its name in the help; the first file is the right one.
ARGUMENTS = {
    "CALIBRATION": ("calibration.csv", "labelled.csv", "answers.jsonl"),
    **dict.fromkeys(("NEW", "STREAM"), ("new.csv", "labelled.csv")),
    **dict.fromkeys(("TEST", "TABLE", "LABELLED", "LATER"), ("labelled.csv", "answers.jsonl", "new.csv")),
    "OUTPUTS": ("outputs.npz", "answers.jsonl"),
    "QUESTIONS": ("questions.jsonl",),
    **dict.fromkeys(("MODEL", "FILE"), ("model.vecuq", *SAVED)),
    "GATE": ("gate.vecuq", "model.vecuq"),
    "LIVE": ("live.vecuq", "gate.vecuq"),
    "STORE": ("notes.txt", "gate.vecuq"),
}
ODD_FILES = ("notes.txt", "absent.csv", ".", "", "-", "*.csv", "x" * 300, "/dev/null", "nowhere/x.csv", "new.csv")
ODD_WORDS = (
    *("0", "1", "-1", "0.5", "1e-300", "1e300", "nan", "inf", "2", "1_0", "0x1", "٣", "1,5", "99999999999999", "", " "),
    *("x", "x0", "x0,x1", "is_correct", "quality", '"', "=1", "\x1b[31m", "auto", "all", "none", "None", "True"),
    *("beta(2, 5)", "beta(0, 0)", "beta(", "exponential(nan)", "ball", "@notes.txt", "@", "roc_auc"),
)
# What a drawn line needs so that it ends, and soon; and values that only cost time.
NEEDED = {
    **{"serve": ("--check",), "ask": ("--model", "m", "--url", "http://127.0.0.1:9/v1", "--tries", "1")},
    **{"compare": ("--resamples", "5", "--error", "is_correct"), "evaluate": ("--resamples", "5", "--ood", "is_ood")},
    **{"measure": ("--measures", "msp"), "sample": ("--rows", "5")},
    **{"gate": ("--correct", "is_correct", "--accuracy", "0.7"), "audit": ("--correct", "is_correct")},
}
CHEAP = dict.fromkeys(("--resamples", "--jobs", "--max-iter", "--threads", "--workers"), ("0", "1", "-1", "x"))


def as_csv(columns):
    cells = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
    return "\n".join([",".join(columns), *(",".join(map(str, row)) for row in cells), ""]).encode()


@cache
def workspace():
    known, new, labelled = rows(60, 0), rows(12, 3), rows(120, 21)
    answers, wrong = sampled_answers(60, 10)
    lines = [{"id": f"q{k}", "label": int(w), **a} for k, (a, w) in enumerate(zip(answers, wrong, strict=True))]
    outputs = io.BytesIO()
    np.savez(outputs, logits=logits(20, 4), labels=np.arange(20) % 3)
    facts = {"is_correct": labels(labelled), "is_ood": np.arange(120) % 2, "quality": np.linspace(0, 1, 120)}
    return {
        "calibration.csv": as_csv(dict(zip(("x0", "x1"), known.T, strict=True))),
        "new.csv": as_csv({"id": np.arange(12), "x0": new[:, 0], "x1": new[:, 1]}),
        "labelled.csv": as_csv({"x0": labelled[:, 0], "x1": labelled[:, 1], **facts}),
        "answers.jsonl": b"".join(as_json(line) + b"\n" for line in lines),
        "questions.jsonl": b'{"id": "q1", "question": "Who wrote Faust?", "answer": "Goethe"}\n',
        "outputs.npz": outputs.getvalue(),
        "notes.txt": b"Not a table, and dear to somebody.\n",
        **{name: content(name.removesuffix(".vecuq")) for name in SAVED},
    }


@cache
def parameters_of(command):
    return GROUP.resolve_command(typer.Context(GROUP), [command])[1].params


@st.composite
def lines(draw, command):
    """Words of a command line, and one file of the workspace that is hostile."""
    parameters, words = parameters_of(command), [command]
    options = [one for one in parameters if one.param_type_name == "option"]
    for argument in (one for one in parameters if one not in options):
        if argument.required or draw(st.integers(0, 3)):
            right = ARGUMENTS[argument.metavar]
            words.append(draw(st.sampled_from((*right, *right[:1] * 8, draw(st.sampled_from(ODD_FILES))))))
    named = [word for word in words if word in workspace()]
    for _ in range(draw(st.sampled_from((0, 0, 0, 1, 1, 2, 3))) if options else 0):
        option = draw(st.sampled_from(options))
        words.append(draw(st.sampled_from([*option.opts, *option.secondary_opts])))
        if not option.is_flag:
            usual = [str(option.default)] if option.default not in (None, ()) else ["out.csv", "model.vecuq"]
            cheap = next((CHEAP[name] for name in option.opts if name in CHEAP), None)
            words.append(draw(st.sampled_from(cheap or (*usual * 9, *ODD_WORDS, *ODD_FILES))))
    words += [word for word in NEEDED.get(command, ()) if not {*NEEDED[command][::2]} & {*words}]
    spoilt = draw(st.sampled_from(named)) if named and draw(st.booleans()) else None
    return words, {} if spoilt is None else {spoilt: draw(hostile(spoilt))}


def hostile(name):
    """The bytes of a file that lies about what it is."""
    stem, _, ending = name.partition(".")
    if ending == "vecuq":
        return lying_files(stem).map(lambda lie: lie[1])
    if ending == "csv":
        return table_files(".csv", ("x0", "x1", "is_correct"))
    return damaged(workspace()[name])


def check(folder, words, files):
    for name, text in {**workspace(), **files}.items():
        (folder / name).write_bytes(text)
    done = run_command(words, folder)
    check_manners(done, words, [str(one.default) for one in parameters_of(words[0]) if "--out" in one.opts])
    return done.code


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_keeps_its_manners_whatever_it_is_given(command, tmp_path_factory):
    check(tmp_path_factory.mktemp("f"), [command, "\x1b[31mred"], {})
    hunt(lines(command), lambda drawn: check(tmp_path_factory.mktemp("f"), *drawn), 2 if command == "report" else 4)


# What once broke something: a note in place of a model, a model in place of a report, a state in place of a model.
@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("fit calibration.csv", "notes.txt"),
        ("report model.vecuq new.csv", "model.vecuq"),
        ("fit new.csv", "live.vecuq"),
    ],
)
def test_no_file_is_replaced_by_one_of_another_kind(words, kept, tmp_path):
    assert check(tmp_path, [*words.split(), "--out", kept], {}) == 1
    assert (tmp_path / kept).read_bytes() == workspace()[kept]
