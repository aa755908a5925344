"""GET /model and its kin, the map for the browser, and the OpenAPI document."""

import asyncio
import gc
import json
import weakref

import numpy as np
import pytest

from vecuq import load

COLUMNS = ["entropy", "knn", "confidence"]


def test_a_model_is_described(client, served_ranker):
    found = client.get("/model").json()
    assert found == client.get("/models/model").json()
    assert (found["name"], found["kind"], found["takes"], found["is_answers"]) == ("model", "model", "rows", False)
    assert found["columns"] == COLUMNS
    assert found["flipped"] == ["confidence"]
    assert found["n_held"] == served_ranker.diagnostics.n_held
    assert found["smallest_alpha"] == 1 / (found["n_held"] + 1)
    assert found["settings"]["reference"] == "beta"
    assert found["gate"] is None
    assert found["exportable"] is True


def test_calibration_quantiles_are_those_of_the_held_back_rows_as_the_user_has_them(client, served_ranker):
    found = client.get("/model").json()["calibration"]
    assert len(found["levels"]) == 101
    held = served_ranker.kept.held
    np.testing.assert_allclose(found["columns"]["entropy"], np.quantile(held[:, 0], found["levels"]))
    np.testing.assert_allclose(found["columns"]["confidence"], np.quantile(-held[:, 2], found["levels"]))
    assert 0 <= found["columns"]["confidence"][0] <= found["columns"]["confidence"][-1] <= 1
    np.testing.assert_allclose(
        found["uncertainty"], np.quantile(served_ranker.calibration_scores, found["levels"]), rtol=1e-12
    )
    assert found["medians"]["confidence"] == -served_ranker.centre[2]


def test_a_gate_is_described_with_its_certificate(client, saved):
    gate = load(saved["gate"])
    found = client.get("/models/gate").json()["gate"]
    certificate = gate.certificate()
    assert found["certificate"] == json.loads(certificate.to_json())
    assert found["certificate_text"] == str(certificate)
    assert found["threshold"] == gate.threshold_
    assert found["table"] == gate.table_
    assert (found["target"], found["by_category"], found["needs_batch"]) == (gate.target.words, False, False)
    by = client.get("/models/gate_by").json()["gate"]
    assert by["by_category"] is True
    assert len(by["certificate"]["units"]) == 3


def test_every_kind_is_described_in_json_without_nan(client, saved):
    listed = client.get("/models").json()["models"]
    assert [one["name"] for one in listed] == list(saved)
    assert [one["default"] for one in listed] == [True, False, False, False, False]
    for one in listed:
        answer = client.get(f"/models/{one['name']}")
        assert answer.status_code == 200
        found = json.loads(answer.text, parse_constant=pytest.fail)
        assert {name: found[name] for name in ("name", "kind", "checksum", "columns")} == {
            name: one[name] for name in ("name", "kind", "checksum", "columns")
        }


def test_the_map_for_the_browser_has_a_tag(client, served_ranker):
    answer = client.get("/models/model/map.json")
    assert answer.text == served_ranker.to_json()
    again = client.get("/models/model/map.json", headers={"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/models/gate/map.json").status_code == 200


def test_paths_that_are_no_routes_are_refused_in_our_words(client):
    for path in ("/nope", "/models/model/nope", "/models/a/b/score"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert set(answer.json()) == {"error", "message", "request_id"}
    answer = client.request("DELETE", "/model")
    assert (answer.status_code, answer.json()["error"]) == (405, "method")


def test_the_document_knows_every_route_with_examples_and_errors(client):
    document = client.get("/openapi.json").json()
    assert document["info"]["title"] == "vecuq"
    paths = document["paths"]
    assert {"/score", "/judge", "/models/{name}/score", "/models/{name}/judge", "/model", "/models"} <= set(paths)
    for path, operations in paths.items():
        for method, operation in operations.items():
            refusals = [operation["responses"][status] for status in ("404", "422", "500", "503")]
            schemas = {one["content"]["application/json"]["schema"]["$ref"] for one in refusals}
            assert schemas == {"#/components/schemas/ErrorBody"}, (method, path)
    assert "HTTPValidationError" not in json.dumps(document)
    names = [operation["operationId"] for one in paths.values() for operation in one.values()]
    assert len(set(names)) == len(names)


def test_examples_of_the_document_can_be_sent_as_they_are(serve):
    for kind in ("model", "gate", "judge"):
        client = serve(kind)
        body = client.get("/openapi.json").json()["paths"]["/score"]["post"]["requestBody"]["content"]
        answer = client.post("/score", json=body["application/json"]["example"])
        assert answer.status_code == 200, answer.text
    reply = client.get("/openapi.json").json()["paths"]["/judge"]["post"]["requestBody"]["content"]
    assert client.post("/judge", json=reply["application/json"]["example"]).status_code == 200


def test_references_of_the_document_lead_somewhere(client):
    document = client.get("/openapi.json").json()

    def references(value):
        if isinstance(value, dict):
            for key, inner in value.items():
                yield from [inner] if key == "$ref" else references(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from references(inner)

    found = set(references(document))
    assert found
    for one in found:
        assert one.removeprefix("#/components/schemas/") in document["components"]["schemas"]


def test_documents_that_load_from_elsewhere_are_not_served(client):
    assert client.get("/redoc").status_code == 404
    assert "cdn" not in client.get("/docs").text.lower()


def test_a_model_that_was_replaced_is_not_kept_in_memory(serve, saved, tmp_path):
    place = tmp_path / "it.vecuq"
    place.write_bytes(saved["gate"].read_bytes())
    client = serve(models={"it": place})
    client.get("/model"), client.get("/models/it/map.json")
    old = weakref.ref(client.app.service.shelf.get())
    place.write_bytes(saved["model"].read_bytes())
    asyncio.run(client.app.service.shelf.poll())
    assert client.get("/model").json()["kind"] == "model"
    gc.collect()
    assert old() is None
