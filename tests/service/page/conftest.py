"""A browser, the files of the page by themselves, and a real service with every kind of model behind the page."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from vecuq import VecUQ

sys.path.insert(0, str(Path(__file__).parents[2]))
import in_browser

browser, expect, tab = in_browser.browser, in_browser.expect, in_browser.tab
wanting = in_browser.wanting
NEEDED = ("fastapi", "uvicorn")


@pytest.fixture(scope="session")
def site():
    """The address of a server that has the files of the page and nothing else."""
    if wanting(*NEEDED):
        return None  # the browser says why
    return _static_site()


def _static_site():
    import uvicorn
    from fastapi import FastAPI

    from vecuq.service.page_routes import routes

    app = FastAPI()
    app.include_router(routes(None))

    @app.middleware("http")
    async def strict(request, call_next):
        answer = await call_next(request)
        answer.headers["content-security-policy"] = "default-src 'self'; img-src 'self' data: blob:"
        return answer

    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.01)
    return f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"


# --- rows, and the models that score them ---


def table_of(n_rows, seed):
    """Rows with ids and labels; the wrong ones are uncertain."""
    rng = np.random.default_rng(seed)
    doubt = rng.gamma(1.5, size=n_rows)
    return pa.table(
        {
            "id": [f"q{k}" for k in range(n_rows)],
            "entropy": 0.4 * doubt + rng.gamma(1.0, 0.3, n_rows),
            "knn": doubt + rng.gamma(2.0, 0.5, n_rows),
            "confidence": 1 / (1 + 0.5 * doubt + rng.gamma(1.0, 0.2, n_rows)),
            "correct": (rng.random(n_rows) > 1 / (1 + np.exp(3 - doubt))).astype(int),
        }
    )


COLUMNS = ["entropy", "knn", "confidence"]


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """Saved models by name; by has categories, cross cannot be exported, plain has no p-values."""
    from good_answers import sampled_answers
    from vecuq import AnswerPipeline, Gate, VecUQPipeline

    how = {"columns": COLUMNS, "flip": ["confidence"], "random_state": 0}
    rank = VecUQ(**how).fit(table_of(1000, 1))
    labelled = table_of(3000, 2)
    answers, wrong = sampled_answers(400, 3)
    made = {
        "rank": rank,
        "gate": Gate(rank, accuracy=0.85).fit(labelled, labelled["correct"].to_numpy()),
        "by": Gate(rank, accuracy=0.8).fit(labelled, labelled["correct"].to_numpy(), by=np.arange(3000) % 2),
        "classes": VecUQPipeline(measures=["msp", "entropy"]).fit(np.random.default_rng(8).normal(size=(300, 4))),
        "cross": VecUQ(holdback="cross", **how).fit(table_of(150, 4)),
        "plain": VecUQ(holdback=0, **how).fit(table_of(300, 5)),
        "judge": AnswerPipeline(measures=["msp", "consistency"], accuracy=0.8).fit(answers, wrong),
    }
    folder = tmp_path_factory.mktemp("served")
    for name, model in made.items():
        model.save(folder / f"{name}.vecuq")
    return SimpleNamespace(folder=folder, paths=[folder / f"{name}.vecuq" for name in made], **made)


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """The same 400 rows in every format, one of them without knn; and answers."""
    from good_answers import sampled_answers

    folder = tmp_path_factory.mktemp("files")
    rows = table_of(400, 6)
    knn = pa.array([None if k == 7 else value for k, value in enumerate(rows["knn"].to_pylist())])
    rows = rows.set_column(2, "knn", knn)
    csv.write_csv(rows, folder / "rows.csv")
    csv.write_csv(rows, folder / "rows.tsv", csv.WriteOptions(delimiter="\t"))
    parquet.write_table(rows, folder / "rows.parquet")
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows.to_pylist()))
    for name, start in (("rows.arrow", pa.ipc.new_file), ("rows.arrows", pa.ipc.new_stream)):
        with start(str(folder / name), rows.schema) as writer:
            writer.write_table(rows)
    answers, _ = sampled_answers(40, 7)
    lines = [
        {
            "vecuq_answers": 1,
            "id": f"a{k}",
            "question": f"Who wrote Faust {k}? 浮士德",
            "greedy": {"text": one["text"], "logprobs": one["logprobs"]},
            "samples": one["samples"],
        }
        for k, one in enumerate(answers)
    ]
    (folder / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return SimpleNamespace(folder=folder, rows=rows, answers=lines)


@pytest.fixture(scope="session")
def known(models, files):
    """What Python says of the rows: uncertainty, p_value, accept, p_wrong; and the rows, most uncertain first."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # one row has no score, and that is meant
        found = {
            "uncertainty": models.rank.uncertainty(files.rows),
            "p_value": models.rank.p_values(files.rows),
            "accept": models.gate.accept(files.rows),
            "p_wrong": models.gate.p_wrong(files.rows),
        }
    order = np.argsort(-np.nan_to_num(found["uncertainty"], nan=-1.0), kind="stable")
    return SimpleNamespace(order=order, ids=[f"q{row}" for row in order], **found)


# --- the service, as its users start it ---


def started(arguments, key=None):
    """Start `vecuq serve` at any free port; return the process and its address."""
    environment = {**os.environ, "VECUQ_API_KEY": key} if key else {**os.environ}
    command = [sys.executable, "-m", "vecuq", "serve", *map(str, arguments), "--port", "0", "--reload-every", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    said = []
    for line in process.stderr:
        said.append(line)
        if line.startswith("{") and json.loads(line).get("message") == "ready":
            threading.Thread(target=process.stderr.read, daemon=True).start()  # a full pipe would stop it
            return process, json.loads(line)["address"]
    pytest.fail(f"The service did not start: {''.join(said)}")


def ended(process):
    """End a service as an operator does, and wait for it."""
    process.send_signal(signal.SIGTERM)
    process.wait(120)
    process.stderr.close()


@pytest.fixture(scope="session")
def run_service():
    """Start services that end with the tests; None where there is no browser to use them."""
    processes = []

    def run(arguments, key=None):
        if wanting(*NEEDED):
            return None
        process, address = started(arguments, key)
        processes.append(process)
        return address

    yield run
    for process in processes:
        ended(process)


@pytest.fixture(scope="session")
def service(models, tmp_path_factory, run_service):
    """The address of a service with all models and a store."""
    return run_service([*models.paths, "--store", tmp_path_factory.mktemp("store") / "kept.db"])


@pytest.fixture
def scored(tab, service, files):
    """Open the page and score a file: scored("gate", "rows.csv"); returns the tab with the table on it."""

    def opened(model="rank", name="rows.csv", **how):
        page = tab(service, **how)
        page.wait_for_selector(".start")
        page.select_option("select[aria-label=Model]", model)
        page.wait_for_selector(f"text={'answers' if model == 'judge' else 'Columns: entropy'}")
        page.set_input_files("input[type=file]", files.folder / name)
        page.wait_for_selector(".grid [role=gridcell]")
        return page

    return opened
