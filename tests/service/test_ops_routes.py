"""Routes for operators: alive, ready, metrics; and the page about all routes."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from vecuq.service.docs_page import docs_page, docs_style
from vecuq.service.metrics import CONTENT_TYPE

ROOT = Path(__file__).parents[2]
parser = pytest.importorskip("prometheus_client.parser", reason="prometheus-client is not installed")


def test_a_living_process_says_so(client):
    answer = client.get("/health")
    assert (answer.status_code, answer.json()) == (200, {"status": "alive"})


@pytest.mark.parametrize("path", ["/health", "/ready"])
def test_load_balancers_may_ask_with_head(client, path):
    assert client.request("HEAD", path).status_code == 200
    assert client.post(path).headers["allow"] == "GET"


def test_ready_names_every_model_with_its_checksum(client, serve):
    found = client.get("/ready").json()
    assert found["ready"] is True
    assert list(found["models"]) == ["model", "gate", "gate_by", "judge", "classifier"]
    assert found["models"]["gate"]["error"] is None
    assert found["models"]["gate"]["generation"] == 1
    assert re.fullmatch(r"[0-9a-f]{64}", found["models"]["gate"]["checksum"])


def test_a_broken_new_file_is_named_in_ready_while_the_old_model_goes_on(serve, saved, tmp_path):
    path = tmp_path / "m.vecuq"
    path.write_bytes(saved["model"].read_bytes())
    client = serve(models={"m": path})
    path.write_bytes(b"broken")
    client.app.service.shelf.reload("m")
    answer = client.get("/ready")
    assert answer.status_code == 200
    assert answer.json()["models"]["m"]["error"]
    assert str(tmp_path) not in answer.text
    assert 'vecuq_model_file_broken{model="m"} 1' in client.get("/metrics").text


def test_metrics_count_requests_and_rows_and_prometheus_reads_them(client):
    row = {"entropy": 1.0, "knn": 1.0, "confidence": 0.5}
    assert client.post("/score", json={"rows": [row, {**row, "knn": None}], "alpha": 0.1}).status_code == 200
    assert client.post("/models/gate/score", json={"rows": [row]}).status_code == 200
    assert client.post("/score", json={"rows": 1}).status_code in (400, 422)
    client.get("/nonsense/17")
    answer = client.get("/metrics")
    assert answer.headers["content-type"] == CONTENT_TYPE
    found = {s.name + str(sorted(s.labels.items())): s.value for f in _families(answer.text) for s in f.samples}
    assert found["vecuq_requests_total[('route', '/score'), ('status', '200')]"] == 1
    assert found["vecuq_requests_total[('route', '/models/{name}/score'), ('status', '200')]"] == 1
    assert found["vecuq_rows_total[('model', 'model')]"] == 2
    assert found["vecuq_rows_missing_total[('model', 'model')]"] == 1
    assert found["vecuq_rows_tested_total[('model', 'model')]"] == 2
    assert found["vecuq_rows_gated_total[('model', 'gate')]"] == 1
    assert found["vecuq_model_generation[('model', 'judge')]"] == 1
    assert found["vecuq_batch_rows_count[]"] >= 2
    assert found["vecuq_requests_in_flight[]"] == 1  # this one
    assert "nonsense" not in answer.text


def _families(text):
    return list(parser.text_string_to_metric_families(text))


def test_every_metric_is_on_the_page_about_operations_and_no_other(client):
    page = (ROOT / "docs" / "service-operations.md").read_text("utf-8")
    sources = ("metrics.py", "ops_routes.py", "keeping/standing.py")
    text = "".join((ROOT / "src" / "vecuq" / "service" / name).read_text("utf-8") for name in sources)
    made = set(re.findall(r'"(vecuq_[a-z_]+)"', text))
    assert set(re.findall(r"vecuq_[a-z_]+", page)) == made
    assert {family.name for family in _families(client.get("/metrics").text)} <= {
        name.removesuffix("_total") for name in made
    }


class Recorder:
    async def query(self, what, **about):
        assert what == "gauges"
        return [["vecuq_gate_bound", {"model": "gate"}, 0.07, "Upper bound."]]


def test_what_the_recorder_knows_is_among_the_metrics(serve):
    text = serve("gate", recorder=Recorder()).get("/metrics").text
    assert 'vecuq_gate_bound{model="gate"} 0.07' in text
    assert "# HELP vecuq_gate_bound Upper bound." in text


def test_with_a_key_metrics_are_closed_and_health_is_open(serve):
    client = serve("model", api_key="the key of the service")
    assert client.get("/health").status_code == client.get("/ready").status_code == 200
    refused = client.get("/metrics")
    assert (refused.status_code, refused.json()["error"]) == (401, "no_key")
    assert refused.headers["www-authenticate"].startswith("Bearer")
    assert client.get("/metrics", headers={"authorization": "Bearer the key of the service"}).status_code == 200


def test_an_allowed_site_may_ask_before_it_calls_and_read_the_answer(serve):
    client = serve("model", api_key="the key of the service", origins=("https://app.example",))
    asks = {"origin": "https://app.example", "access-control-request-method": "POST"}
    before = client.request("OPTIONS", "/score", headers=asks)
    assert before.status_code == 204
    assert before.headers["access-control-allow-origin"] == "https://app.example"
    assert "x-api-key" in before.headers["access-control-allow-headers"]
    answer = client.get("/health", headers={"origin": "https://app.example"})
    assert answer.headers["access-control-allow-origin"] == "https://app.example"
    assert client.get("/health", headers={"origin": "https://evil.example"}).status_code == 403
    assert "access-control-allow-origin" not in serve("model").get("/health").headers


def test_the_page_about_routes_loads_nothing_from_elsewhere_and_no_script(client):
    answer = client.get("/docs")
    assert answer.status_code == 200
    assert "<script" not in answer.text
    assert " style=" not in answer.text
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    loaded = re.findall(r'(?:src|href)="([^"#]+)"', answer.text)
    assert loaded == ["data:,", "/docs/style.css", "/openapi.json", "/"]
    style = client.get("/docs/style.css")
    assert style.headers["content-type"].startswith("text/css")
    assert "url(" not in style.text
    assert "prefers-color-scheme: dark" in style.text


def test_the_page_shows_every_route_of_the_document(client):
    document = client.get("/openapi.json").json()
    page = client.get("/docs").text
    for path, item in document["paths"].items():
        for method in item:
            assert f'<span class="method">{method.upper()}</span> {path}</h2>' in page


DOCUMENT = {
    "info": {"title": "a <b> service", "version": "1"},
    "paths": {
        "/things/{name}": {
            "post": {
                "summary": "Add a thing",
                "description": "More\nthan one line.",
                "parameters": [
                    {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}},
                    {"name": "deep", "in": "query", "schema": {"type": "integer", "default": 3}, "description": "How."},
                ],
                "requestBody": {
                    "content": {
                        "application/json": {"schema": {"$ref": "#/components/schemas/Thing"}},
                        "text/csv": {"example": "a,b\n1,2\n"},
                    }
                },
                "responses": {
                    "200": {"description": "Done", "content": {"application/json": {"schema": {"type": "integer"}}}},
                    "422": {"description": "It's wrong"},
                },
            }
        }
    },
    "components": {
        "schemas": {
            "Thing": {
                "description": "A thing & its parts.",
                "required": ["parts"],
                "properties": {
                    "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Thing"}},
                    "kind": {"enum": ["a", "b"], "description": "Which."},
                    "size": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": 0.5},
                    "notes": {"type": "object", "additionalProperties": {"type": "string"}},
                },
            }
        }
    },
}


class Tags(HTMLParser):
    """Checks that what is opened is closed."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_route_is_shown_with_parameters_bodies_answers_and_a_line_to_copy():
    page = docs_page(DOCUMENT, url="http://127.0.0.1:1")
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert "a &lt;b&gt; service" in page
    assert "curl -X POST &#39;http://127.0.0.1:1/things/{name}&#39;" in page
    for text in ("Add a thing", "How.", "<code>3</code>", "a,b\n1,2", "A thing &amp; its parts.", "list of Thing"):
        assert text in page, text
    assert "&#34;a&#34; or &#34;b&#34;" in page
    assert "number or null" in page
    assert "object of string" in page
    assert "It&#39;s wrong" in page


def test_a_document_of_nothing_is_still_a_page():
    assert "<main>" in docs_page({})
    assert docs_style().startswith(":root")
