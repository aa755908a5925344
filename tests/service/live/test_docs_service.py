"""docs/service.md keeps its word: its commands, requests and Python run as they stand, and its options exist."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from started import environment, started

from vecuq.client import Client
from vecuq.service import ErrorBody
from vecuq.service.wire import OPTION_NAMES

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "service.md").read_text("utf-8")
ADDRESS = "http://127.0.0.1:8000"
DEFER = "vecuq serve"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def followed(tmp_path_factory):
    """A folder in which the first steps of the page were done, and the service that it starts."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "bin").mkdir()
    command = folder / "bin" / "vecuq"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m vecuq "$@"\n')
    command.chmod(0o755)
    before, serving, *_ = blocks("bash")
    run(folder, before)
    words = serving.strip().removeprefix(DEFER).split()
    here = os.getcwd()
    os.chdir(folder)
    try:
        with started(*words) as service:
            service.folder = folder
            yield service
    finally:
        os.chdir(here)


def run(folder, script):
    path = os.pathsep.join([str(folder / "bin"), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        check=False,
        cwd=folder,
        env=environment(PATH=path),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_requests_of_the_page_are_answered(followed):
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed, which sends the requests of the page")
    requests = [block for block in blocks("bash") if "curl" in block]
    assert len(requests) == 4
    said = [run(followed.folder, block.replace(ADDRESS, followed.url)) for block in requests]
    row, taken = json.loads(said[0])["rows"][0], json.loads(said[1])["feedback"][0]
    shown = json.loads(blocks("json")[0])["rows"][0]
    assert {name: value for name, value in row.items() if name != "audit"} == {
        name: pytest.approx(value, abs=0.005) for name, value in shown.items() if name != "audit"
    }
    assert set(shown) == set(row)
    assert (taken["status"], taken["scored"]) == ("stored", True)
    first = (followed.folder / "decided.csv").read_text().splitlines()
    assert {"uncertainty", "p_value", "flagged", "accept"} <= {name.strip('"') for name in first[0].split(",")}
    assert len(first) == 721
    assert pq.read_table(followed.folder / "decided.parquet")["accept"].null_count == 0
    assert '"gate"' in said[3]
    assert '"ready":true' in said[3]
    assert "vecuq_" in said[3]


def test_the_python_of_the_page_runs(followed, monkeypatch, capsys):
    from vecuq.data import load_demo

    monkeypatch.chdir(followed.folder)
    code = blocks("python")[0].replace(ADDRESS, followed.url)
    table = load_demo().new.drop_columns(["id"]).to_pandas()
    table["confidence"] = 0.9
    names = {"frame": table}
    exec(compile(code, "docs/service.md", "exec"), names)  # noqa: S102 - our own text
    assert "flagged" in names["frame"].columns
    shown = capsys.readouterr().out
    assert shown.startswith("True ")
    assert "With confidence 90 %, at least 95 % of the accepted rows are right." in shown


def test_the_verbs_of_the_page_are_those_of_the_client():
    sentence = re.search(r"`AsyncClient` has the same verbs, to be awaited: (.*?)\.", PAGE, re.DOTALL).group(1)
    verbs = {name for name in vars(Client) if not name.startswith("_")} - {"close"}
    assert set(re.findall(r"`(\w+)`", sentence)) == verbs


def test_the_refusal_of_the_page_has_the_fields_of_one():
    assert set(json.loads(blocks("json")[1])) == set(ErrorBody.__struct_fields__)


def test_every_route_of_the_page_exists(followed):
    with Client(followed.url) as client:
        known = set(client._http.get("/openapi.json").json()["paths"])
    stated = set(re.findall(r"`(?:GET|POST) (/[\w/]+)`", PAGE)) | {"/ready", "/metrics", "/models"}
    stated = {path.replace("NAME", "{name}") for path in stated}
    assert stated - known == set()


def test_every_option_of_the_page_is_taken(followed):
    table = PAGE[PAGE.index("| option | meaning |") :].partition("\n\n")[0]
    options = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)))
    row = {"entropy": 0.4, "mutual_information": 0.07, "mahalanobis": 42.5, "knn": 2.2, "confidence": 0.9}
    values = {"alpha": 0.05, "confidence": 0.9, "explain": True, "missing": "marginal", "id": "name", "record": False}
    assert set(options) == {*values, "by", "replace", "texts", "map"} == set(OPTION_NAMES)
    with Client(followed.url) as client:
        assert client.score([{**row, "name": "x"}], **values).rows[0].id == "x"
