"""POST /score with JSON rows: what is taken, what is refused, and in which words."""

import json

import numpy as np
import pytest

ROW = {"entropy": 1.0, "knn": 2.0, "confidence": 0.5}


def test_rows_are_scored_in_their_order_and_ids_come_back(client, served_ranker):
    rows = [{**ROW, "id": "b"}, {**ROW, "entropy": 9}, {**ROW, "id": 7}]
    answer = client.post("/score", json={"rows": rows})
    assert answer.status_code == 200
    found = answer.json()
    assert found["model"] == "model"
    known = served_ranker.rank({name: [row[name] for row in rows] for name in ROW})
    assert [row["uncertainty"] for row in found["rows"]] == known.uncertainty.tolist()
    assert [row["p_value"] for row in found["rows"]] == known.p_values.tolist()
    assert [row.get("id") for row in found["rows"]] == ["b", None, "7"]
    assert set(found["rows"][1]) == {"uncertainty", "p_value"}


def test_options_may_stand_in_the_body_or_in_the_query_string(client):
    inside = client.post("/score", json={"rows": [ROW], "alpha": 0.1, "explain": True})
    outside = client.post("/score?alpha=0.1&explain=true", json={"rows": [ROW]})
    assert inside.json() == outside.json()
    assert {"flagged", "why", "contributions"} <= set(inside.json()["rows"][0])


@pytest.mark.parametrize(
    ("body", "said"),
    [([ROW], "it is a list itself"), (ROW, "unknown field `entropy`"), ("x", "it is a text itself"), ({}, "`rows`")],
)
@pytest.mark.parametrize("path", ["/score", "/models/judge/score"])
def test_a_body_of_another_shape_is_told_which_is_needed(client, body, said, path):
    answer = client.post(path, json=body)
    assert answer.status_code == 422
    assert said in answer.json()["message"]
    assert 'Send {"rows": [{...}, ...]}' in answer.json()["message"]


@pytest.mark.parametrize("body", [{"rows": [ROW]}, [ROW], ROW])
def test_json_that_says_it_is_csv_is_told_its_content_type(client, body):
    answer = client.post("/score", content=json.dumps(body), headers={"content-type": "text/csv"})
    assert (answer.status_code, answer.json()["error"]) == (422, "content_type")
    assert "Content-Type: application/json" in answer.json()["message"]


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("/score", {"rows": [{**ROW, "knn": "x"}]}, 422, "field 'knn': a number or null is needed; got a text"),
        ("/score", {"rows": [ROW, {**ROW, "knn": True}]}, 422, "Row 1 (counting from 0), field 'knn'"),
        ("/score", {"rows": [{"entropy": 1}]}, 422, "lacks ['knn', 'confidence']"),
        ("/score", {"rows": []}, 422, "no rows"),
        ("/score", {"rows": [3]}, 422, "a record of named numbers is needed"),
        ("/score", {"row": [ROW]}, 422, "`row`"),
        ("/score", {}, 422, "`rows`"),
        ("/score", {"rows": [ROW], "alpha": 3}, 422, "alpha must lie in (0, 1)"),
        ("/score", {"rows": [ROW], "alpha": 1e-9}, 422, "held-back"),
        ("/score", {"rows": [ROW], "missing": "x"}, 422, "'missing'"),
        ("/score", {"rows": [ROW], "confidence": 0.9}, 422, "alpha"),
        ("/score", {"rows": [ROW], "by": "subject"}, 422, "without a gate"),
        ("/score", {"rows": [ROW], "id": "knn"}, 422, "score column"),
        ("/score", {"rows": [{**ROW, "id": [1]}]}, 422, "'id'"),
        ("/score", {"rows": [{**ROW, "id": "x" * 201}]}, 422, "'id'"),
        ("/score?alpha=0.1", {"rows": [ROW], "alpha": 0.2}, 422, "0.1 in the query string and 0.2 in the body"),
        ("/score?alpha=0.1&alpha=0.2", {"rows": [ROW]}, 422, "came twice"),
        ("/score?alpah=0.1", {"rows": [ROW]}, 422, "no option 'alpah'"),
        ("/score?explain=perhaps", {"rows": [ROW]}, 422, "true or false"),
        ("/models/nope/score", {"rows": [ROW]}, 404, "There is no model 'nope'"),
        ("/models/gate_by/score", {"rows": [ROW]}, 422, "certificate per category"),
        ("/models/gate_by/score", {"rows": [ROW], "by": "subject"}, 422, "no category"),
        ("/models/classifier/score", {"rows": [ROW]}, 422, "outputs of a classifier"),
    ],
)
def test_what_cannot_be_scored_is_refused_in_one_sentence(client, path, body, status, said):
    answer = client.post(path, json=body)
    assert answer.status_code == status, answer.text
    found = answer.json()
    assert said in found["message"]
    assert set(found) == {"error", "message", "request_id"}
    assert found["request_id"] == answer.headers["x-request-id"]


@pytest.mark.parametrize(
    "body",
    [
        b'{"rows": [{"entropy": NaN, "knn": 1, "confidence": 1}]}',
        b'{"rows": [{"entropy": Infinity, "knn": 1, "confidence": 1}]}',
        b'{"rows": [{"entropy": 1, "knn": 1, "confidence": 1}]',
        b"",
        b"\xff\xfe",
        b'{"rows": [{"entropy": 1, "knn": 1, "confidence": 1, "other": ' + b"[" * 5000 + b"]" * 5000 + b"}]}",
    ],
)
def test_what_is_no_json_is_refused(client, body):
    answer = client.post("/score", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"] == "bad_body"


def test_null_is_missing_and_large_and_whole_numbers_are_numbers(client, served_ranker):
    rows = [{**ROW, "knn": None}, {**ROW, "knn": 1e308}, {**ROW, "entropy": 3}, {**ROW, "knn": 1e-320}]
    found = client.post("/score", content=json.dumps({"rows": rows}))
    known = served_ranker.rank(
        {name: np.array([row[name] for row in rows], dtype=float) for name in ROW}, warn=False
    ).uncertainty
    got = [np.nan if row["uncertainty"] is None else row["uncertainty"] for row in found.json()["rows"]]
    np.testing.assert_array_equal(got, np.where(np.isfinite(known), known, np.nan))


def test_a_missing_value_is_an_error_where_that_is_asked_for(client):
    answer = client.post("/score?missing=error", json={"rows": [ROW, {**ROW, "knn": None}]})
    assert answer.status_code == 422
    assert "'knn': 1" in answer.json()["message"]


def test_only_post_scores(client):
    answer = client.get("/score")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"
    assert answer.json()["error"] == "method"


def test_a_request_id_of_the_client_comes_back_if_it_is_a_plain_word(client):
    assert client.get("/model", headers={"x-request-id": "abc-1"}).headers["x-request-id"] == "abc-1"
    assert client.get("/model", headers={"x-request-id": "a b"}).headers["x-request-id"] != "a b"


def test_formats_that_are_not_known_are_refused(client):
    assert client.post("/score", content=b"x", headers={"content-type": "text/html"}).status_code == 415
    assert client.post("/score", content=b"x", headers={"content-encoding": "gzip"}).status_code == 415
    assert client.post("/score", json={"rows": [ROW]}, headers={"accept": "text/html"}).status_code == 406
