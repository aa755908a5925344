"""docs/service.md keeps its word: its routes, options and verbs exist. Its blocks are run in tests/docs."""

import json
import re
from pathlib import Path

import pytest
from started import started

from vecuq.client import Client
from vecuq.service import ErrorBody
from vecuq.service.wire import OPTION_NAMES

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "service.md").read_text("utf-8")


@pytest.fixture(scope="module")
def followed(saved):
    with started(saved) as service:
        yield service


def test_the_verbs_of_the_page_are_those_of_the_client():
    sentence = re.search(r"Its verbs are (.*?)\.", PAGE, re.DOTALL).group(1)
    verbs = {name for name in vars(Client) if not name.startswith("_")} - {"close"}
    assert set(re.findall(r"`(\w+)`", sentence)) == verbs


def test_the_refusal_of_the_page_has_the_fields_of_one():
    shown = re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[-1]
    assert set(json.loads(shown)) == set(ErrorBody.__struct_fields__)


@pytest.mark.nightly
def test_every_route_of_the_page_exists(followed):
    with Client(followed.url) as client:
        known = set(client._http.get("/openapi.json").json()["paths"])
    stated = set(re.findall(r"`(?:GET|POST) (/[\w/]+)`", PAGE)) | {"/ready", "/metrics", "/models"}
    stated = {path.replace("NAME", "{name}") for path in stated}
    assert stated - known == set()


@pytest.mark.nightly
def test_every_option_of_the_page_is_taken(followed):
    table = PAGE[PAGE.index("| option | meaning |") :].partition("\n\n")[0]
    options = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)))
    row = {"entropy": 0.4, "knn": 2.2}
    values = {"alpha": 0.05, "confidence": 0.9, "explain": True, "missing": "marginal", "id": "name", "record": False}
    assert set(options) == {*values, "by", "replace", "texts", "map"} == set(OPTION_NAMES)
    with Client(followed.url) as client:
        assert client.score([{**row, "name": "x"}], **values).rows[0].id == "x"
