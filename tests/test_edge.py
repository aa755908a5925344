"""The edge of the command line: whatever happens inside, one line comes out, or nothing, and an exit code."""

import os
import signal
import subprocess
import sys
import time
import warnings

import pyarrow as pa
import pytest

from vecuq.cli import talk
from vecuq.cli.commands import COMMANDS
from vecuq.errors import TableError, VecuqWarning
from vecuq.table import write_batches

# The command, which says when it hears signals, before it imports anything slow.
MAIN = """
from vecuq.cli import edge
prepare = edge._print_anything
edge._print_anything = lambda: (prepare(), print("ready", flush=True))
edge.main()
"""


@pytest.fixture
def new(tmp_path, make_rows):
    path = tmp_path / "new.csv"
    write_batches(path, pa.table(make_rows(40, 1)).to_batches())
    return path


@pytest.fixture
def failing(monkeypatch, run, tmp_path, model, new):
    """Run `vecuq score` while what does the work raises."""

    def invoke(error, *before, after=()):
        def fail(*_, **__):
            raise error

        monkeypatch.setattr("vecuq.workflows.score", fail)
        return run(*before, "score", model, new, "-o", tmp_path / "o.csv", *after)

    return invoke


UNFORESEEN = [
    ValueError("no such thing"),
    KeyError("key"),
    RecursionError("maximum recursion depth exceeded"),
    UnicodeEncodeError("ascii", "ï", 0, 1, "ordinal not in range"),
    GeneratorExit("closed"),
    BaseExceptionGroup("several", [KeyError("one"), ValueError("two")]),
    EOFError("nothing more"),
    type("PanicException", (BaseException,), {})("called `unwrap()` on a `None` value"),
]


@pytest.mark.parametrize("error", UNFORESEEN, ids=lambda error: type(error).__name__)
def test_what_nobody_foresaw_is_one_line_with_a_hint_to_report_it(failing, error):
    result = failing(error)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith(f"error: unexpected {type(error).__name__}: ")
    assert result.stderr.endswith("; this is a defect of vecuq: run again with --debug and report what it shows.\n")
    assert result.stderr.count("\n") == 1


FORESEEN = [
    (TableError("There is no row."), "error: There is no row.\n"),
    (FileNotFoundError(2, "No such file", "x"), "error: [Errno 2] No such file: 'x'\n"),
    (MemoryError(), "error: not enough memory\n"),
]


@pytest.mark.parametrize(("error", "line"), FORESEEN)
def test_what_we_refuse_is_one_line_without_a_hint(failing, error, line):
    result = failing(error)
    assert (result.exit_code, result.stderr) == (1, line)


@pytest.mark.parametrize(("before", "after"), [(("--debug",), ()), ((), ("--debug",))])
@pytest.mark.parametrize("error", [TableError("There is no row."), ValueError("no such thing")])
def test_debug_shows_the_traceback_wherever_it_stands(failing, error, before, after):
    result = failing(error, *before, after=after)
    assert result.exit_code == 1
    first, *_, last = result.stderr.splitlines()
    assert first == "Traceback (most recent call last):"
    assert "in fail" in result.stderr
    assert last.startswith("error: ")


def test_debug_shows_where_a_wrong_setting_was_refused(run, new):
    result = run("fit", new, "--epsilon", -1, "--debug")
    assert result.exit_code == 2
    assert result.stderr.startswith("Traceback")
    assert "--epsilon must lie in" in result.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_knows_debug(run, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert "--debug" in run(command, "--help").stdout


def test_a_command_that_cannot_be_imported_is_one_line(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "vecuq.cli.ranking", None)
    result = run("score", "m.vecuq", "n.csv")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: unexpected ModuleNotFoundError: ")
    assert result.stderr.count("\n") == 1
    assert run("score", "m.vecuq", "n.csv", "--debug").stderr.startswith("Traceback")


def test_an_error_while_words_are_read_is_one_line(run, monkeypatch):
    def fail(_):
        raise ArithmeticError("in a callback")

    monkeypatch.setattr("vecuq.cli.commands.__version__", type("Bad", (), {"__format__": fail})())
    result = run("--version")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)


def test_a_signal_that_a_library_turned_into_an_error_stays_silent(failing, monkeypatch):
    monkeypatch.setattr(talk, "STOPPED", [130])
    result = failing(ImportError("numpy failed to import"))
    assert (result.exit_code, result.stderr) == (130, "")


def test_a_secret_is_printed_neither_in_a_message_nor_in_a_traceback(failing, monkeypatch):
    monkeypatch.setattr(talk, "_SECRETS", set())
    talk.keep_secret("sk-secret\n")
    for error in (ValueError("Bearer sk-secret"), TableError("Bearer sk-secret")):
        result = failing(error, after=["--debug"])
        assert "sk-secret" not in result.stderr
        assert "Bearer ***" in result.stderr


def test_a_long_message_keeps_its_hint(failing):
    assert failing(ValueError("x" * 10_000)).stderr.endswith("report what it shows.\n")


def test_a_secret_is_not_shown_in_part_where_a_message_is_cut(failing, monkeypatch):
    monkeypatch.setattr(talk, "_SECRETS", {"sk-secret"})
    for kind, most in ((TableError, 2_000), (ValueError, 1_000)):
        for before in range(most - 12, most):
            assert "sk-" not in failing(kind("x" * before + "sk-secret")).stderr


def test_a_note_that_comes_twice_is_printed_once(capsys):
    with talk.friendly_errors():
        for text in ("first", "second", "first"):
            warnings.warn(text, VecuqWarning, stacklevel=1)
    assert capsys.readouterr().err == "note: first\nnote: second\n"


def test_a_message_cannot_steer_the_terminal(failing):
    assert "\x1b" not in failing(ValueError("\x1b[31mred\x1b[0m"), after=["--debug"]).stderr


@pytest.fixture
def real():
    """Run the command in a process of its own; returns code, stdout and stderr."""

    def invoke(*words, **how):
        line = [sys.executable, "-m", "vecuq", *map(str, words)]
        settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **how}
        return subprocess.run(line, check=False, **settings)

    return invoke


def test_a_closed_pipe_ends_the_command_in_silence(real):
    """As a shell shows it for a program that a closed pipe has ended."""
    reader, writer = os.pipe()
    os.close(reader)
    for words in (["measures"], ["--help"]):
        done = real(*words, stdout=writer)
        assert (done.returncode, done.stderr) == (141, "")
    os.close(writer)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk_behind_stdout_is_one_line(real):
    with open("/dev/full", "w") as full:
        done = real("measures", stdout=full)
    assert (done.returncode, done.stderr) == (1, "error: [Errno 28] No space left on device\n")


def test_letters_that_the_terminal_lacks_are_escaped(real, tmp_path, make_rows):
    write_batches(tmp_path / "c.csv", pa.table(make_rows(40, 0, names=("entrópía", "日本"))).to_batches())
    done = real("doctor", tmp_path / "c.csv", env={**os.environ, "PYTHONIOENCODING": "latin-1"}, encoding="latin-1")
    assert (done.returncode, done.stderr) == (0, "")
    assert r"entrópía, \u65e5\u672c" in done.stdout


def test_an_error_too(real):
    done = real("info", "日本", env={**os.environ, "PYTHONIOENCODING": "ascii"}, encoding="ascii")
    assert (done.returncode, done.stdout) == (1, "")
    assert r"\u65e5\u672c" in done.stderr


def test_an_interrupt_is_heard_before_anything_slow_is_imported():
    loaded = "import sys; from vecuq.cli import main; print(*sys.modules)"
    place = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-S", "-c", loaded], capture_output=True, text=True, env=place, check=True)
    assert "vecuq.cli.edge" in done.stdout
    assert set(done.stdout.split()).isdisjoint({"typer", "rich", "typing", "lazy_loader", "pathlib", "re"})


def interrupted(words, moment, *, where):
    """Interrupt a command some time after it began; return its exit code and what it printed on stderr."""
    line = [sys.executable, "-c", MAIN, *map(str, words)]
    # In a group of its own: at a terminal, Ctrl-C reaches every process of a command.
    job = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=where, start_new_session=True)
    assert job.stdout.readline() == b"ready\n"
    time.sleep(moment)
    os.killpg(job.pid, signal.SIGINT)
    _, told = job.communicate(timeout=60)
    return job.returncode, told


def commands(model, new):
    return {
        "version": ["--version"],
        "fit": ["fit", new, "-o", "fitted.vecuq"],
        "score": ["score", model, new, "-o", "scored.csv"],
    }


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="no process groups here")
@pytest.mark.parametrize("command", ["version", "fit", "score"])
def test_an_interrupt_ends_a_command_in_silence(tmp_path, model, new, command):
    interrupt_at([0.0, 0.02, 0.1, 0.4], tmp_path, model, new, command)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["version", "fit", "score"])
def test_an_interrupt_at_any_moment_ends_a_command_in_silence(tmp_path, model, new, command):
    interrupt_at([k / 40 for k in range(41)], tmp_path, model, new, command)


def interrupt_at(moments, tmp_path, model, new, command):
    for moment in moments:
        code, told = interrupted(commands(model, new)[command], moment, where=tmp_path)
        assert told == b""
        # 130, or ended by the signal itself while the interpreter was on its way out, or done before.
        assert code in (130, -signal.SIGINT, 0)
        assert not list(tmp_path.glob(".vecuq-*"))


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="no process groups here")
def test_a_program_that_ignores_interrupts_goes_on(tmp_path):
    """As a shell starts what runs in the background."""
    ignoring = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n{MAIN}"
    line = [sys.executable, "-c", ignoring, "measures"]
    job = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    job.stdout.readline()
    job.send_signal(signal.SIGINT)
    _, told = job.communicate(timeout=60)
    assert (job.returncode, told) == (0, b"")
