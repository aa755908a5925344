"""Every command that writes, killed while it writes: nothing is torn, and only hidden temporary files stay behind."""

import json
import shutil
import typing
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from example_store import store_bytes

from vecuq import ScoreTable, fit_ranker, load
from vecuq.cli.commands import COMMANDS

LABELS = ("--ood", "is_ood")
FEW = ("--resamples", "0")
COLUMNS = ("--columns", "entropy,knn")


@dataclass(frozen=True)
class Writer:
    """A command, and the files or folders that it writes."""

    words: tuple
    outputs: tuple


# Rows are decided by a live gate, which begins where there is none yet.
DECIDE = """
from pathlib import Path
import numpy as np, pandas as pd
from vecuq import Gate, load, workflows
if not Path("out.vecuq").exists():
    rows = pd.read_csv("c.csv")
    Gate(load("m.vecuq"), accuracy=0.5).fit(rows[["entropy", "knn"]], np.arange(len(rows)) % 9 > 0).save("g.vecuq")
settings = workflows.LiveSettings(audit=0.5)
workflows.decide_live("g.vecuq", "n.csv", "out.csv", state="out.vecuq", ids="id", settings=settings)
"""
# And then labels come for them.
UPDATE = """
from pathlib import Path
from vecuq import workflows
if Path("out.vecuq").exists():
    workflows.update_live("out.vecuq", "out.csv", workflows.LabelColumns(wrong="is_ood"), ids="id")
else:
    exec(DECIDE)
""".replace("DECIDE", repr(DECIDE))
ALONE = ("--jobs", "1")
FIT_ANSWERS = ("fit", "sampled.jsonl", "--measures", "consistency", *ALONE, "-o", "out.vecuq")
WRITERS = {
    "fit": Writer(("fit", "c.csv", *COLUMNS, "-o", "out.vecuq"), ("out.vecuq",)),
    "score": Writer(("score", "m.vecuq", "n.csv", "-o", "out.parquet"), ("out.parquet",)),
    "report": Writer(("report", "m.vecuq", "n.csv", "-o", "out.html", "--table", "out.csv"), ("out.html", "out.csv")),
    "measure": Writer(("measure", "logits.npz", "--measures", "entropy", "-o", "out.parquet"), ("out.parquet",)),
    "measure answers": Writer(
        ("measure", "answers.jsonl", "--jobs", "1", "--measures", "msp,perplexity", "-o", "out.parquet"),
        ("out.parquet",),
    ),
    "fit answers": Writer(FIT_ANSWERS, ("out.vecuq",)),
    "score answers": Writer(("score", "bot.vecuq", "sampled.jsonl", *ALONE, "-o", "out.parquet"), ("out.parquet",)),
    "gate answers": Writer(
        ("gate", "bot.vecuq", "labelled.jsonl", "--wrong", "label", "--budget", "0.2", *ALONE, "-o", "out.vecuq"),
        ("out.vecuq",),
    ),
    "evaluate": Writer(
        ("evaluate", "n.csv", *COLUMNS, "--error", "is_ood", *FEW, "-o", "out.csv", "--curves", "curves.csv"),
        ("out.csv", "curves.csv"),
    ),
    "compare": Writer(("compare", "c.csv", "n.csv", *COLUMNS, *LABELS, *FEW, "-o", "out.md"), ("out.md",)),
    "ask": Writer(
        ("ask", "questions.jsonl", "--url", "http://localhost:9", "--model", "m", "--samples", "1", "-o", "out.jsonl"),
        ("out.jsonl",),
    ),
    "monitor": Writer(("monitor", "m.vecuq", "n.csv", "--state", "out.vecuq"), ("out.vecuq",)),
    "gate": Writer(
        ("gate", "m.vecuq", "n.csv", "--wrong", "is_ood", "--accuracy", "0.3", "-o", "out.vecuq", "--picture", "p.csv"),
        ("out.vecuq", "p.csv"),
    ),
    "score over time": Writer(
        ("score", "g.vecuq", "n.csv", "-o", "out.csv", "--state", "out.vecuq", "--id", "id", "--audit", "0.5"),
        ("out.csv", "out.vecuq"),
    ),
    "sample": Writer(("sample", "n.csv", "-n", "20", "-o", "out.csv"), ("out.csv",)),
    "decide": Writer(("python", DECIDE), ("out.csv", "out.vecuq")),
    "update": Writer(("python", UPDATE), ("out.vecuq",)),
    "export": Writer(("export", "m.vecuq", "-o", "out.json"), ("out.json",)),
    "card": Writer(("card", "m.vecuq", "-o", "out.html"), ("out.html",)),
    "feedback": Writer(("feedback", "s.sqlite", "-o", "out.csv"), ("out.csv",)),
    "demo": Writer(("demo", "-o", "out"), ("out",)),
    "reproduce": Writer(("reproduce", "toy", "-o", "out"), ("out",)),
}
IDS = list(WRITERS)
# One of each way to write: a file, two files, a state beside a file, line after line, a folder. The others by night.
EVERYDAY = ("score", "report", "score over time", "ask", "demo")
# Options whose files are only read.
READ = {
    "card": {"evaluation"},
    "fit": {"labelled", "samples"},
    "gate": {"unlabelled", "samples"},
    "audit": {"samples"},
    "live": {"recalibrate"},
    "measure": {"train", "samples"},
    "monitor": {"calibration"},
    "reproduce": {"data_dir"},
    "score": {"samples"},
    # The service writes for as long as it runs; it is killed in tests/service.
    "report": {"calibration"},
    "serve": {"certificate", "certificate_key", "store"},
}


def file_options(command):
    """The options of a command that name a file or a folder."""
    module, function = COMMANDS[command].place.split(":")
    hints = typing.get_type_hints(getattr(import_module(f"vecuq.cli.{module}"), function), include_extras=True)
    options = {name: hint for name, hint in hints.items() if "OptionInfo" in repr(getattr(hint, "__metadata__", ""))}
    return {name for name, hint in options.items() if Path in (hint.__origin__, *typing.get_args(hint.__origin__))} | {
        name for name, hint in options.items() if list[Path] in typing.get_args(hint.__origin__)
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_every_file_that_a_command_writes_is_among_those_it_is_killed_at(command):
    written = file_options(command) - READ.get(command, set())
    words = [word for writer in WRITERS.values() if writer.words[0] == command for word in writer.words]
    given = {f"--{name}" if f"--{name}" in words else "-o" for name in written}
    assert given <= set(words)
    assert len(given) == len(written), "two options would both be -o"


def write_rows(path, seed, scale=1.0):
    rng = np.random.default_rng(seed)
    rows = {"entropy": rng.gamma(1.0, size=120) * scale, "knn": rng.gamma(2.0, size=120), "is_ood": np.arange(120) % 2}
    rows["id"] = [f"{seed}-{k}" for k in range(120)]
    pd.DataFrame(rows).to_csv(path, index=False)


def write_inputs(folder, seed):
    """Write what the commands read; another seed gives other outputs."""
    rng = np.random.default_rng(seed)
    write_rows(folder / "c.csv", seed)
    write_rows(folder / "n.csv", seed + 100)
    np.savez(folder / "logits.npz", logits=rng.normal(size=(3, 20, 4)))
    asked = [f'{{"id": "q{k}", "question": "what is {k}"}}\n' for k in range(6)]
    (folder / "questions.jsonl").write_text("".join(asked[: 2 if seed else 6]))
    lines = [
        f'{{"vecuq_answers": 1, "id": "q{k}", "greedy": {{"text": "a{seed}", "logprobs": [-{k}.5]}}}}\n'
        for k in range(9)
    ]
    (folder / "answers.jsonl").write_text("".join(lines))
    sampled = [{"id": f"q{k}", "texts": [f"a{seed} {one}" for one in rng.integers(0, 3, size=4)]} for k in range(40)]
    (folder / "sampled.jsonl").write_text("".join(json.dumps(line) + "\n" for line in sampled))
    labelled = [{**line, "id": f"l{k}", "label": k % 4 == 0} for k, line in enumerate(sampled)]
    (folder / "labelled.jsonl").write_text("".join(json.dumps(line) + "\n" for line in labelled))
    scored = ScoreTable.of({"entropy": rng.gamma(1.0, size=120), "knn": rng.gamma(2.0, size=120)})
    (folder / "s.sqlite").write_bytes(store_bytes(fit_ranker(scored), scored, word=f"seed {seed}"))


@pytest.fixture(scope="session")
def begun(drive, tmp_path_factory):
    """For a command: a folder with its inputs and older outputs, and the same one after an undisturbed run."""
    made = {}

    def make(name):
        if name not in made:
            folder = tmp_path_factory.mktemp("begun")
            before, after = folder / "before", folder / "after"
            before.mkdir()
            write_inputs(before, 1)
            assert drive(before, *WRITERS["fit"].words[:-1], "m.vecuq")["code"] == 0
            if "g.vecuq" in WRITERS[name].words:
                assert drive(before, *WRITERS["gate"].words[:7], "-o", "g.vecuq")["code"] == 0
            if "bot.vecuq" in WRITERS[name].words:
                assert drive(before, *FIT_ANSWERS[:-1], "bot.vecuq")["code"] == 0
            done = drive(before, *WRITERS[name].words)
            assert done["code"] == 0, done
            write_inputs(before, 0)
            shutil.copytree(before, after)
            done = drive(after, *WRITERS[name].words)
            assert done["code"] == 0, done
            made[name] = before, after, done["steps"]
        return made[name]

    return make


def content(path):
    """Return what a file says; of a monitor's state and of a gate without the time, which they know too."""
    found = load(path) if path.name == "out.vecuq" else None
    if found.__class__.__name__ == "Monitor":
        return found.rows, found.evidence, len(found.counted)
    if found.__class__.__name__ == "Gate":
        return found.rules_, found.table_, found.model.to_bytes()
    if found.__class__.__name__ == "AnswerPipeline":
        return found.measures_, found.split_, found.ranker_.to_bytes(), found.gate_ and found.gate_.rules_
    if found.__class__.__name__ == "LiveGate":
        return str(found), found.pending
    return path.read_bytes()


def everything(folder):
    """What all files hold, but for temporary ones that a killed run left."""
    files = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {str(path): content(folder / path) for path in files if not is_left(path)}


def folders(folder):
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_dir())
    return {str(path) for path in found if not is_left(path)}


def is_left(path):
    return any(part.startswith(".vecuq-") for part in path.parts) or path.parts[0] == "tmp"


def check_kill(drive, begun, name, tmp_path, **kill):
    """Kill a command and run it again; return whether it was killed in time."""
    before, after, _ = begun(name)
    folder = tmp_path / "now"
    shutil.copytree(before, folder)
    killed = drive(folder, *WRITERS[name].words, **kill)
    old, new = everything(before), everything(after)
    for output in WRITERS[name].outputs:
        inside = [folder / output] if (folder / output).is_file() else list((folder / output).glob("[!.]*"))
        for path in inside:
            place = str(path.relative_to(folder))
            if name == "ask":
                assert content(path).startswith(old[place])
                assert (content(path) + new[place][len(content(path)) :]) == new[place]
            else:
                assert content(path) in (old[place], new[place]), f"{place} is torn"
    again = drive(folder, *WRITERS[name].words)
    assert again["code"] == 0, again
    assert everything(folder) == new
    assert folders(folder) == folders(after)
    shutil.rmtree(folder)
    return killed["code"] == -9


def spread(count, n):
    """Return about n numbers below a count, the first and the last among them."""
    return sorted({round(k * (count - 1) / max(n - 1, 1)) for k in range(n)})


@pytest.mark.parametrize("name", [pytest.param(one, marks=[pytest.mark.nightly][one in EVERYDAY :]) for one in IDS])
def test_a_command_killed_at_a_step_of_its_writing_tears_nothing(drive, begun, tmp_path, name):
    steps = begun(name)[2]
    for step in spread(steps, 3):
        assert check_kill(drive, begun, name, tmp_path, kill_at=step)


@pytest.mark.slow
@pytest.mark.parametrize("name", IDS)
def test_twenty_kills_tear_nothing_and_leave_nothing_behind(drive, begun, tmp_path, name):
    """Kill at up to 15 steps, then at random times until there are 20."""
    killed = sum(check_kill(drive, begun, name, tmp_path, kill_at=step) for step in spread(begun(name)[2], 15))
    for seconds in np.random.default_rng(0).uniform(0.0, 0.4, size=200):
        killed += check_kill(drive, begun, name, tmp_path, kill_after=seconds)
        if killed == 20:
            break
    assert killed == 20
