"""Run small jobs and count the modules of vecuq that each enters, and what the command line shows.

A module counts when one of its functions runs; what runs while modules are imported does not count. Each job has a
process of its own, forked from one that has imported the large packages. Threads count, child processes do not.
"""

from __future__ import annotations

import asyncio
import csv
import json
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any

COMMANDS = {
    "fit": "fit cal.csv --flip confidence -o model.vecuq",
    "gate": "gate model.vecuq labelled.csv --wrong is_error --accuracy 0.9 -o gate.vecuq",
    "bot": "fit answers.jsonl --wrong wrong --accuracy 0.9 -o bot.vecuq",
    "score": "score model.vecuq new.csv -o ranked.csv",
    "score-gate": "score gate.vecuq new.csv -o decided.csv",
    "report": "report gate.vecuq new.csv -o page.html",
}
# What the jobs import beside vecuq, and nothing that starts threads.
LARGE = (
    "numpy",
    "scipy.stats",
    "sklearn.base",
    "pyarrow.csv",
    "pyarrow.parquet",
    "matplotlib.figure",
    "typer",
    "fastapi",
)
AT_ONCE = os.cpu_count() or 1


class Watch:
    """Notes every module of vecuq that is entered."""

    def __init__(self) -> None:
        import vecuq

        self.home = str(Path(vecuq.__file__).parent) + os.sep
        self.modules: set[str] = set()

    def entered(self, frame: FrameType, event: str, _: object) -> None:
        """Note the module of a function that is called."""
        name = frame.f_code.co_filename
        if event != "call" or name in self.modules or not name.startswith(self.home):
            return
        # The bodies of modules and classes are no functions.
        if frame.f_code.co_flags & 1 and not self.importing(frame):
            self.modules.add(name)

    def importing(self, frame: FrameType | None) -> bool:
        """Whether the body of a module of vecuq is being run further up."""
        while frame is not None:
            if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(self.home):
                return True
            frame = frame.f_back
        return False

    def begin(self) -> None:
        """Watch all threads from now on."""
        threading.setprofile(self.entered)
        sys.setprofile(self.entered)


def command(words: str) -> None:
    """Run ``vecuq words``."""
    from vecuq.cli import main

    sys.argv = ["vecuq", *words.split()]
    try:
        main()
    except SystemExit as done:
        if done.code:
            raise RuntimeError(f"vecuq {words} ended with {done.code}") from None


def loading(watch: Watch, file: str, use: Callable[[Any], object]) -> dict[str, int]:
    """Load a file and use it: the modules of both, and of the use alone."""
    import vecuq

    watch.begin()
    kept = vecuq.load(file)
    loaded, watch.modules = watch.modules, set()
    use(kept)
    return {"": len(loaded | watch.modules), " after loading": len(watch.modules)}


def judge(watch: Watch) -> dict[str, int]:
    """Judge one reply."""
    one = json.loads(Path("answers.jsonl").read_text("utf-8").splitlines()[0])
    given = {"samples": one["samples"], "question": one["question"]}
    return loading(watch, "bot.vecuq", lambda bot: bot(one["response"], **given))


def p_values(watch: Watch) -> dict[str, int]:
    """Compute p-values of a table."""
    import pyarrow.csv

    table = pyarrow.csv.read_csv("new.csv")
    return loading(watch, "model.vecuq", lambda model: model.p_values(table))


def post(watch: Watch, kind: str = "application/json") -> dict[str, int]:
    """Send three rows to a service."""
    import httpx

    from vecuq.service import ServeSettings, create_app, make_service

    app = create_app(make_service(ServeSettings({"gate": Path("gate.vecuq")})))
    lines = Path("new.csv").read_text("utf-8").splitlines(keepends=True)[:4]
    rows = [{name: _number(cell) for name, cell in row.items()} for row in csv.DictReader(lines)]
    content = "".join(lines) if kind == "text/csv" else json.dumps({"rows": rows})
    request = httpx.Request("POST", "http://127.0.0.1:8000/score", content=content, headers={"content-type": kind})

    async def send() -> int:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as client:
            watch.begin()
            return (await client.send(request)).status_code

    if (status := asyncio.run(send())) != 200:
        raise RuntimeError(f"POST of {kind} answered {status}")
    return {"": len(watch.modules)}


def _number(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell


def shown(_: Watch) -> dict[str, int]:
    """Count the options that each command shows, and the modules that ``--help`` imports."""
    before = set(sys.modules)
    command("--help")
    helping = sum(name.split(".")[0] == "vecuq" for name in set(sys.modules) - before | {"vecuq"})
    import typer

    from vecuq.cli import app

    group: Any = typer.main.get_command(app)
    context = group.make_context("vecuq", ["--help-is-not-asked"], resilient_parsing=True)
    found = {name: group.resolve_command(context, [name])[1].params for name in group.list_commands(context)}
    visible = {
        name: sum(one.param_type_name == "option" and not one.hidden for one in params)
        for name, params in found.items()
    }
    return {"help_modules": helping, **visible}


OTHERS: dict[str, Callable[[Watch], dict[str, int]]] = {
    "judge": judge,
    "p_values": p_values,
    "post": post,
    "post-csv": lambda watch: post(watch, "text/csv"),
    "shown": shown,
}
STAGES = (("fit", "bot", "shown"), ("gate", "score", "p_values"), ("score-gate", "report", "post", "post-csv", "judge"))


def run(job: str, folder: Path) -> None:
    """Run one job in a process of its own and leave its figures in the folder."""
    os.chdir(folder)
    with open(f"{job}.log", "w", encoding="utf-8") as log:
        os.dup2(log.fileno(), 1), os.dup2(log.fileno(), 2)
        watch = Watch()
        if job in OTHERS:
            found = OTHERS[job](watch)
        else:
            watch.begin()
            command(COMMANDS[job])
            found = {"": len(watch.modules)}
    sys.setprofile(None)
    Path(f"{job}.json").write_text(json.dumps(found), "utf-8")


def prepare(folder: Path) -> None:
    """Write the tables and the answers."""
    data = Path(__file__).resolve().parents[1] / "src" / "vecuq" / "data"
    for name, source in (("cal", "demo_calibration"), ("labelled", "demo_new"), ("new", "demo_new")):
        shutil.copy(data / f"{source}.csv", folder / f"{name}.csv")
    draw, lines = random.Random(0), []  # noqa: S311 - rows to read
    for k in range(300):
        right, hard = draw.randint(100, 999), draw.random() < 0.3
        said = [right + (draw.randint(1, 9) if hard and draw.random() < 0.7 else 0) for _ in range(6)]
        first, *others = ({"choices": [{"message": {"role": "assistant", "content": f"It is {one}."}}]} for one in said)
        line = {"id": f"q{k}", "question": f"What is {right} + 0?", "response": first, "samples": others}
        lines.append(json.dumps(line | {"wrong": int(said[0] != right)}))
    (folder / "answers.jsonl").write_text("\n".join(lines) + "\n", "utf-8")


def figures() -> dict[str, dict[str, int]]:
    """Run all jobs and return the figures: walks, shown options, and what ``--help`` imports."""
    os.environ |= {"PYTHONWARNINGS": "ignore", "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    for name in LARGE:
        if find_spec(name.split(".")[0]) is not None:
            import_module(name)
    fork, found = multiprocessing.get_context("fork"), dict[str, dict[str, int]]()
    with tempfile.TemporaryDirectory(prefix="vecuq-walks-") as name:
        folder = Path(name)
        prepare(folder)
        for stage in STAGES:
            for start in range(0, len(stage), AT_ONCE):
                some = {job: fork.Process(target=run, args=(job, folder)) for job in stage[start : start + AT_ONCE]}
                for process in some.values():
                    process.start()
                for job, process in some.items():
                    process.join()
                    if process.exitcode:
                        raise SystemExit(f"rooms: the job {job} failed:\n{(folder / f'{job}.log').read_text('utf-8')}")
                    found[job] = json.loads((folder / f"{job}.json").read_text("utf-8"))
    options = found.pop("shown")
    helping = options.pop("help_modules")
    found.pop("bot")
    walked = {f"{job}{part}": n for job, parts in sorted(found.items()) for part, n in parts.items()}
    return {"walks": walked, "options": options, "run": {"help_modules": helping}}
