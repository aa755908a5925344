"""Run commands in forked processes, some of which are killed at a chosen step of their writing.

A job comes in as one line of JSON and goes out as another. Everything is imported once, so that a run takes as long as
its own work. A step is a call that changes what is on disk; a process is killed before it makes the chosen one, and
where that is a write, in the middle of it.
"""

import contextlib
import json
import os
import signal
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

STEPS = ("replace", "rename", "link", "unlink", "rmdir", "mkdir", "fsync", "write", "ftruncate")


# What commands import late, or again and again if nobody did before.
MODULES = (
    *("jinja2", "matplotlib.pyplot", "matplotlib.backends.backend_agg", "pyarrow.csv"),
    *(
        "pyarrow.parquet",
        "rich.table",
        "safetensors.numpy",
        "vecuq.data",
        "vecuq.pipeline",
        "vecuq.workflows.demonstration",
    ),
    *("matplotlib.backends.backend_svg", "rich._emoji_codes", "vecuq.workflows.studies"),
)


class Steps:
    """Counts the steps in a folder, and kills the process before one of them."""

    def __init__(self, folder, kill_at):
        self.folder, self.kill_at, self.count = folder, kill_at, 0
        for name in STEPS:
            setattr(os, name, self.watched(name, getattr(os, name)))

    def watched(self, name, call):
        def counted(*args, **more):
            if self.concerns(args, more):
                if self.count == self.kill_at:
                    if name == "write":
                        call(args[0], args[1][: len(args[1]) // 2])
                    os.kill(os.getpid(), signal.SIGKILL)
                self.count += 1
            return call(*args, **more)

        return counted

    def concerns(self, args, more):
        paths = [str(arg) for arg in args if isinstance(arg, str | os.PathLike)]
        inside = [path for path in paths if self.folder in os.path.abspath(path)]
        return bool(inside) or more.get("dir_fd") is not None or not paths


def answer(self, question, plan):
    from vecuq.answers import Answer

    time.sleep(0.005)
    said = Answer(text=f"to {question.text}", logprobs=(-0.5,))
    return said, [said] * plan.samples


def small_study():
    from vecuq._draw import Sheet
    from vecuq.paper import Study

    sheet = Sheet("small", "A small table", ({"a": "x", "b": 1.0},))
    return Study("small", "Small", (sheet,), {}, "Nothing.")


def small_page(ranker, table, ranking, **more):
    return f"<!doctype html>{ranking.uncertainty.tolist()}"


def prepare():
    """Import all that the commands need, and put small things in place of slow ones."""
    for name in MODULES:
        import_module(name)
    import vecuq.answers
    import vecuq.baselines
    import vecuq.paper
    import vecuq.report
    from vecuq.cli.commands import COMMANDS

    for entry in COMMANDS.values():
        import_module(f"vecuq.cli.{entry.place.split(':')[0]}")
    vecuq.answers.Endpoint.answer = answer
    vecuq.paper.STUDIES["toy"] = small_study
    vecuq.report.build_report = small_page
    vecuq.baselines.baselines = dict


def run_words(words):
    from vecuq.cli import main

    sys.argv = ["vecuq", *words]
    main()


def child(job, words, report):
    """Run one command; say in the end how many steps it took. Never returns."""
    os.chdir(job["folder"])
    Path("tmp").mkdir(exist_ok=True)
    tempfile.tempdir = str(Path("tmp").absolute())  # Python itself would try it by a file there
    said = os.open(report, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(said, 1)
    os.dup2(said, 2)
    steps, code = Steps(job["folder"], job.get("kill_at")), 0
    try:
        if words[0] == "python":
            exec(words[1], {})  # noqa: S102
        else:
            run_words(words)
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 99
    sys.stdout.flush()
    sys.stderr.flush()
    Path(f"{report}.steps").write_text(str(steps.count))
    os._exit(code)


def serve(job, reports):
    """Run the commands of a job at once, and return how each ended."""
    names = [f"{reports}/{number}" for number in range(len(job["commands"]))]
    running = []
    for words, name in zip(job["commands"], names, strict=True):
        Path(f"{name}.steps").unlink(missing_ok=True)
        pid = os.fork()
        if not pid:
            child(job, words, name)
        running.append(pid)
    if job.get("kill_after") is not None:
        time.sleep(job["kill_after"])
        for pid in running:
            os.kill(pid, signal.SIGKILL)
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in running]
    return [ended(code, name) for code, name in zip(codes, names, strict=True)]


def ended(code, name):
    steps = Path(f"{name}.steps")
    with contextlib.suppress(FileNotFoundError):
        return {"code": code, "said": Path(name).read_text(), "steps": int(steps.read_text())}
    return {"code": code, "said": "", "steps": None}


if __name__ == "__main__":
    prepare()
    with tempfile.TemporaryDirectory() as reports:
        for line in sys.stdin:
            sys.stdout.write(json.dumps(serve(json.loads(line), reports)) + "\n")
            sys.stdout.flush()
