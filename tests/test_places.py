"""No command replaces a file that it reads, or a file of another kind, unless it is told to."""

import gzip
import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from vecuq import Monitor, load
from vecuq.cli.commands import COMMANDS
from vecuq.pipeline import VecUQPipeline
from vecuq.ranker import scorer_source
from vecuq.ranker.export import onnx_bytes
from vecuq.table import write_batches
from vecuq.workflows.contents import kind_there

# Commands that write without an option to replace anything: they go on with their own file, or write none.
NEVER = {"audit", "live", "ask", "monitor", "measures", "doctor", "info", "serve"}


def table_bytes(path, make_rows):
    write_batches(path, pa.table(make_rows(20, 3)).to_batches())
    return path.read_bytes()


@pytest.fixture(scope="session")
def contents(tmp_path_factory, ranker, make_rows):
    """One file of each kind, by what it is."""
    tmp_path = tmp_path_factory.mktemp("contents")
    buffer = io.BytesIO()
    np.savez(buffer, x=np.zeros(3))
    return {
        "model": ranker.to_bytes(),
        "monitor": Monitor(ranker).to_bytes(),
        "pipeline": VecUQPipeline(measures="bayes_rules")
        .fit(np.random.default_rng(0).normal(size=(3, 200, 4)))
        .to_bytes(),
        "parquet": table_bytes(tmp_path / "k.parquet", make_rows),
        "arrow": table_bytes(tmp_path / "k.arrow", make_rows),
        "arrows": table_bytes(tmp_path / "k.arrows", make_rows),
        "csv": table_bytes(tmp_path / "k.csv", make_rows),
        "npz": buffer.getvalue(),
        "answers": b'{"vecuq_answers":1,"id":"q0"}\n',
        "onnx": onnx_bytes(ranker),
        "scorer": ranker.to_json().encode(),
        "script": scorer_source().encode(),
        "page": b"\xef\xbb\xbf <!DOCTYPE HTML><title>a</title>",
        "svg": b'<?xml version="1.0"?>\n<!DOCTYPE svg><svg xmlns="x"/>',
        "png": b"\x89PNG\r\n\x1a\n",
        "sheet": b"| a | b |\n|---|---|\n",
        "text": b"dear diary",
        "program": b"\x7fELF\0\0\0",
        "nothing": b"",
    }


KINDS = {
    "parquet": "table",
    "arrow": "table",
    "arrows": "table",
    "svg": "picture",
    "png": "picture",
    "program": "file",
    "nothing": None,
    # By these names they are no tables.
    "csv": "text",
    "npz": "file",
    "sheet": "text",
}


def test_what_a_file_holds_is_seen_whatever_its_name(tmp_path, contents):
    for name, content in contents.items():
        (tmp_path / "x").write_bytes(content)
        assert kind_there(tmp_path / "x") == KINDS.get(name, name), name
    assert kind_there(tmp_path / "absent") is None


@pytest.mark.parametrize(
    ("file", "content", "kind"),
    [
        ("x.csv", b"a,b\n1,2\n", "table"),
        ("x.csv", b"\xff\xfea\0,\0b\0", "table"),
        ("x.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0), "table"),
        ("x.jsonl", b'{"a": 1}\n', "table"),
        ("x.jsonl.gz", gzip.compress(b'{"vecuq_answers":1}', mtime=0), "answers"),
        ("x.jsonl.gz", gzip.compress(b'{"a": 1}' * 99, mtime=0)[:20], "file"),
        ("x.gz", gzip.compress(b"a", mtime=0), "file"),
        ("x.docx", b"PK\x03\x04", "file"),
        ("x.npz", b"PK\x03\x04", "table"),
        ("x.csv", b"<html>", "page"),
        ("x.csv", b"a\0b", "file"),
        ("x.md", b"| a |\n", "sheet"),
        ("x.md", b"# Read me\n", "text"),
        ("x.tex", b"\\begin{table}\n", "sheet"),
        ("x.tex", b"\\documentclass{article}\n", "text"),
    ],
)
def test_the_name_tells_what_a_text_or_a_zip_is(tmp_path, file, content, kind):
    (tmp_path / file).write_bytes(content)
    assert kind_there(tmp_path / file) == kind


@pytest.fixture
def files(tmp_path, ranker, make_rows):
    """What the commands read."""
    ranker.save(tmp_path / "m.vecuq")
    for name, seed in (("c", 0), ("n", 1)):
        rows = {**make_rows(120, seed), "is_ood": np.arange(120) % 2}
        pd.DataFrame(rows).to_csv(tmp_path / f"{name}.csv", index=False)
    np.savez(tmp_path / "logits.npz", logits=np.random.default_rng(0).normal(size=(3, 20, 4)))
    lines = [{"vecuq_answers": 1, "id": f"q{k}", "greedy": {"text": "a", "logprobs": [-0.5]}} for k in range(3)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


@pytest.fixture(autouse=True)
def small_drawings(monkeypatch):
    """Pages and pictures are not what these tests are about."""
    monkeypatch.setattr("vecuq.report.build_report", lambda *_, **__: "<!doctype html>")
    monkeypatch.setattr("vecuq.report.picture_of", lambda curves: None)
    monkeypatch.setattr("vecuq._draw.to_svg", lambda figure: b"<svg/>")


OOD = ("--columns", "entropy,knn", "--ood", "is_ood", "--resamples", "0")
# Each command that writes a file, without its output; the ending that it writes; what it reads.
WRITERS = {
    "fit": (("fit", "c.csv", "--columns", "entropy,knn", "-o"), ".vecuq", "c.csv"),
    "score": (("score", "m.vecuq", "n.csv", "-o"), ".csv", "n.csv"),
    "report": (("report", "m.vecuq", "n.csv", "-o"), ".html", "m.vecuq"),
    "measure": (("measure", "logits.npz", "--measures", "entropy", "-o"), ".npz", "logits.npz"),
    "measure answers": (("measure", "a.jsonl", "--jobs", "1", "--measures", "msp", "-o"), ".jsonl", "a.jsonl"),
    "evaluate": (("evaluate", "n.csv", *OOD, "-o"), ".csv", "n.csv"),
    "evaluate as text": (("evaluate", "n.csv", *OOD, "-o"), ".md", "n.csv"),
    "curves": (("evaluate", "n.csv", *OOD, "--error", "is_ood", "--curves"), ".svg", "n.csv"),
    "compare": (("compare", "c.csv", "n.csv", *OOD, "-o"), ".csv", "c.csv"),
}
# The files inside the folders that commands write.
FOLDERS = {
    "demo": (("demo", "-o"), ("model.vecuq", "ranked.csv", "report.html", "calibration.csv")),
    "reproduce": (("reproduce", "limits", "-o"), ("index.html",)),
}


def wanted_kind(ending):
    return {".vecuq": "model", ".html": "page", ".md": "sheet", ".svg": "svg"}.get(ending, "parquet")


@pytest.mark.parametrize("name", WRITERS)
def test_a_command_replaces_only_what_is_of_its_kind(refused, run, files, contents, monkeypatch, name):
    monkeypatch.chdir(files)
    words, ending, _ = WRITERS[name]
    out = files / f"out{ending}"
    kinds = {"parquet": "table", "svg": "picture", "png": "picture"}
    wanted = kinds.get(wanted_kind(ending), wanted_kind(ending))
    for kind in ("model", "monitor", "answers", "page", "png", "parquet", "program"):
        if kinds.get(kind, kind) == wanted:
            continue
        out.write_bytes(contents[kind])
        told = refused(*words, out)
        assert " holds " in told
        assert "choose another name, or replace it with --force" in told
    assert run(*words, out, "--force").exit_code == 0
    assert run(*words, out).exit_code == 0  # the same kind may be replaced
    out.write_bytes(b"")
    assert run(*words, out).exit_code == 0  # and so may nothing
    if ending not in (".csv", ".npz", ".jsonl"):
        out.write_bytes(b"dear diary")
        assert "holds text" in refused(*words, out)


def test_a_report_never_replaces_the_model_that_it_reads(refused, files):
    words = ("report", files / "m.vecuq", files / "n.csv", "-o")
    assert "m.vecuq does not end in .html; name it" in refused(*words, files / "m.vecuq", "--force")
    (files / "m.html").symlink_to("m.vecuq")
    assert "one of the files that this job reads" in refused(*words, files / "m.html")


@pytest.mark.parametrize("name", [name for name, one in WRITERS.items() if one[2].endswith(one[1])])
def test_a_command_replaces_what_it_reads_only_if_forced(refused, run, files, monkeypatch, name):
    monkeypatch.chdir(files)
    words, _, reads = WRITERS[name]
    told = refused(*words, reads)
    assert "one of the files that this job reads; choose another name, or replace it with --force" in told
    before = (files / reads).read_bytes()
    assert run(*words, reads, "--force").exit_code == 0
    assert (files / reads).read_bytes() != before


@pytest.mark.parametrize("name", FOLDERS)
def test_a_command_that_fills_a_folder_replaces_only_what_is_of_its_kind(refused, run, files, contents, name):
    words, inside = FOLDERS[name]
    words = [files / word if (files / word).exists() else word for word in words]
    (files / "out").mkdir()
    for place in inside:
        (files / "out" / place).write_bytes(contents["answers"])
        told = refused(*words, files / "out")
        assert place in told
        assert "--force" in told
        (files / "out" / place).unlink()
    if name != "reproduce":
        (files / "out" / inside[0]).write_bytes(contents["answers"])
        assert run(*words, files / "out", "--force").exit_code == 0
        assert run(*words, files / "out").exit_code == 0
        assert {*inside} <= {path.name for path in (files / "out").iterdir()}


def test_a_folder_in_the_place_of_a_file_is_refused_before_any_work(refused, files, monkeypatch):
    (files / "out" / "report.html").mkdir(parents=True)
    monkeypatch.setattr("vecuq.workflows.demonstration.fit", None)
    assert "report.html is a folder; a file name was expected" in refused("demo", "-o", files / "out")


def test_every_command_that_writes_has_an_option_to_force_it(run):
    for name in COMMANDS.keys() - NEVER:
        assert "--force" in run(name, "--help").stdout, name
    for name in NEVER:
        assert "--force" not in run(name, "--help").stdout, name


def test_a_monitor_goes_on_from_a_state_and_from_nothing_else(refused, files, contents):
    words = ("monitor", files / "m.vecuq", files / "n.csv", "--state")
    for kind in ("model", "page", "answers", "text"):
        (files / "x").write_bytes(contents[kind])
        told = refused(*words, files / "x")
        assert "not the state of a monitor; choose another name." in told
    assert "one of the files that this job reads" in refused(*words, files / "m.vecuq")


def test_links_that_lead_in_a_circle_are_told_in_one_line(refused, files):
    for name in ("loop", "loop.csv", "loop.html"):
        (files / name).symlink_to(name)
    for words in (
        ("fit", files / "c.csv", "-o", files / "loop"),
        ("score", files / "m.vecuq", files / "n.csv", "-o", files / "loop.csv"),
        ("score", files / "m.vecuq", files / "loop.csv", "-o", files / "o.csv"),
        ("demo", "-o", files / "loop"),
        ("report", files / "m.vecuq", files / "n.csv", "-o", files / "loop.html"),
        ("monitor", files / "m.vecuq", files / "n.csv", "--state", files / "loop"),
        ("evaluate", files / "n.csv", *OOD, "-o", files / "loop.csv"),
    ):
        assert "is a link that leads back to itself; give the name of a file." in refused(*words)


def test_tables_and_curves_of_one_evaluation_are_written_both_or_not_at_all(run, refused, files, monkeypatch):
    words = ("evaluate", files / "n.csv", *OOD, "--error", "is_ood", "-o", files / "o.csv", "--curves")
    (files / "o.csv").write_text("old\n")

    def fail(figure):
        raise OSError("no picture")

    with monkeypatch.context() as patch:
        patch.setattr("vecuq._draw.to_svg", fail)
        assert "no picture" in refused(*words, files / "c.svg")
    assert run(*words, files / "c.svg").exit_code == 0
    assert (files / "o.csv").read_text() != "old\n"
    assert (files / "c.svg").exists()


def test_a_demo_that_fails_at_the_page_leaves_model_and_table_as_they_were(run, refused, files, monkeypatch):
    words = ("demo", "-o", files / "out", "--force")
    assert run(*words).exit_code == 0
    before = load(files / "out" / "model.vecuq").to_bytes()

    def fail(*_, **__):
        raise OSError("no page")

    monkeypatch.setattr("vecuq.report.build_report", fail)
    (files / "out" / "ranked.csv").write_text("mine\n")
    assert "no page" in refused(*words)
    assert (files / "out" / "model.vecuq").read_bytes() == before
    assert (files / "out" / "ranked.csv").read_text() == "mine\n"
