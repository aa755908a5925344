"""Python, the command line and HTTP give the same numbers, to the bit, in every format."""

import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from vecuq import load

COLUMNS = ("entropy", "knn", "confidence")
ARROW = "application/vnd.apache.arrow.stream"
PARQUET = "application/vnd.apache.parquet"
# Full rows, missing values, far rows, and both at once.
VALUES = [
    *np.random.default_rng(8).gamma(1.0, size=(300, 3)).tolist(),
    [None, 1.0, 0.5],
    [1.0, None, None],
    [None, None, None],
    [1e300, 1e300, -1e300],
    [1e300, None, 0.5],
    [-1e300, 0.0, 1e300],
    [1.7e308, 1.7e308, 0.1],
    [0.0, 0.0, 0.0],
    [5e-324, 1e-300, 1.0],
]
SUBJECTS = ("law", "physics", "history", "chess")


def table_of():
    columns = dict(zip(COLUMNS, zip(*VALUES, strict=True), strict=True))
    made = {name: pa.array(cells, pa.float64()) for name, cells in columns.items()}
    n = len(VALUES)
    return pa.table({"id": [f"r{k}" for k in range(n)], **made, "subject": [SUBJECTS[k % 4] for k in range(n)]})


def body_of(table, kind):
    """The table as the body of a request, with its Content-Type."""
    out = io.BytesIO()
    if kind == "csv":
        pc.write_csv(table, out)
        return out.getvalue(), "text/csv"
    if kind == "parquet":
        pq.write_table(table, out)
        return out.getvalue(), PARQUET
    if kind == "arrow":
        with pa.ipc.new_stream(out, table.schema) as writer:
            writer.write_table(table, max_chunksize=100)
        return out.getvalue(), ARROW
    rows = table.to_pylist()
    if kind == "jsonl":
        return "".join(json.dumps(row) + "\n" for row in rows).encode(), "application/x-ndjson"
    return json.dumps({"rows": rows}).encode(), "application/json"


def read(content, kind):
    """The rows of an answer."""
    if kind == "csv":
        types = dict.fromkeys(("uncertainty", "p_value", "p_wrong"), pa.float64())
        return pc.read_csv(io.BytesIO(content), convert_options=pc.ConvertOptions(column_types=types)).to_pylist()
    if kind == "parquet":
        return pq.read_table(io.BytesIO(content)).to_pylist()
    if kind == "arrow":
        return pa.ipc.open_stream(content).read_all().to_pylist()
    if kind == "jsonl":
        return [json.loads(line) for line in content.splitlines()]
    return json.loads(content)["rows"]


def numbers(rows, name):
    """A column to compare bit by bit; what is missing, or infinite in JSON, is None."""
    found = [row.get(name) for row in rows]
    return [None if isinstance(one, float) and not np.isfinite(one) else one for one in found]


def by_command(run, tmp_path, model, *options):
    """The rows that `vecuq score` writes."""
    new, out = tmp_path / "new.parquet", tmp_path / "out.parquet"
    pq.write_table(table_of(), new)
    result = run("score", model, new, "-o", out, *options)
    assert result.exit_code == 0, result.output
    return pq.read_table(out).to_pylist()


OPTIONS = [
    ("model", (), {}),
    ("model", ("--missing", "marginal"), {"missing": "marginal"}),
    ("model", ("--alpha", "0.1", "--explain"), {"alpha": 0.1, "explain": "true"}),
    ("model", ("--alpha", "0.1", "--confidence", "0.9"), {"alpha": 0.1, "confidence": 0.9}),
    ("model", ("--explain", "--missing", "marginal"), {"explain": "true", "missing": "marginal"}),
    ("gate", (), {}),
    ("gate", ("--alpha", "0.05", "--missing", "marginal"), {"alpha": 0.05, "missing": "marginal"}),
    ("gate_by", ("--by", "subject"), {"by": "subject"}),
    ("gate_average", (), {}),
]


@pytest.fixture(scope="module")
def gate_average(served_ranker, tmp_path_factory):
    """A gate that decides a batch."""
    from vecuq import Gate

    rng = np.random.default_rng(9)
    rows = {name: rng.gamma(1.0, size=600) for name in COLUMNS}
    path = tmp_path_factory.mktemp("average") / "average.vecuq"
    Gate(served_ranker, accuracy=0.8, promise="average").fit(pa.table(rows), rng.random(600) > 0.1).save(path)
    return path


@pytest.mark.filterwarnings("ignore::vecuq.errors.VecuqWarning")
@pytest.mark.parametrize(("model", "words", "query"), OPTIONS)
def test_the_command_line_and_every_format_over_http_agree(
    serve, saved, run, tmp_path, gate_average, model, words, query
):
    paths = {**saved, "gate_average": gate_average}
    known = by_command(run, tmp_path, paths[model], *words)
    client = serve(models={"it": paths[model]})
    added = [name for name in known[0] if name not in ("id", "subject", *COLUMNS)]
    for kind in ("json", "jsonl", "csv", "parquet", "arrow"):
        body, media = body_of(table_of(), kind)
        answer = client.post("/score", params=query, content=body, headers={"content-type": media})
        assert answer.status_code == 200, (kind, answer.text)
        assert answer.headers["content-type"] == media
        rows = read(answer.content, kind)
        if kind == "json":
            rows = [flat(row) for row in rows]
        assert [row["id"] for row in rows] == [row["id"] for row in known]
        for name in added:
            theirs = [one or None if kind == "csv" and name == "why" else one for one in numbers(rows, name)]
            assert theirs == numbers(known, name), (kind, name)
        as_json = client.post(
            "/score", params=query, content=body, headers={"content-type": media, "accept": "application/json"}
        )
        assert [flat(row) for row in as_json.json()["rows"]] == [
            {"id": row["id"], **{name: one[k] for name, one in columns.items()}}
            for columns in [{name: numbers(known, name) for name in added}]
            for k, row in enumerate(known)
        ]


def flat(row):
    """A row of a JSON answer, with contributions as a table has them."""
    row = dict(row)
    inner = row.pop("contributions", None) or {}
    return {**row, **{f"contribution_{name}": value for name, value in inner.items()}}


def test_python_agrees_with_http(client, served_ranker, served_gate):
    values = np.array([[np.nan if one is None else one for one in row] for row in VALUES])
    body, media = body_of(table_of(), "arrow")
    rows = read(client.post("/models/gate/score", content=body, headers={"content-type": media}).content, "arrow")
    rows_by_name = dict(zip(COLUMNS, values.T, strict=True))
    ranking = served_ranker.rank(rows_by_name, warn=False)
    assert numbers(rows, "uncertainty") == numbers([{"x": one} for one in ranking.uncertainty.tolist()], "x")
    assert numbers(rows, "p_value") == numbers([{"x": one} for one in ranking.p_values.tolist()], "x")
    scores = served_gate.scoring.settled(ranking.uncertainty, values, ranking.p_values)
    assert [row["accept"] for row in rows] == served_gate.accept_scores(scores).tolist()
    assert numbers(rows, "p_wrong") == numbers(
        [{"x": one} for one in served_gate.p_wrong_of_scores(scores).tolist()], "x"
    )


def test_rows_one_by_one_get_the_bits_that_they_get_together(client):
    rows = table_of().to_pylist()[250:]
    together = client.post("/models/gate/score", json={"rows": rows, "alpha": 0.1, "explain": True}).json()["rows"]
    alone = [("POST", "/models/gate/score", {"json": {"rows": [row], "alpha": 0.1, "explain": True}}) for row in rows]
    assert [answer.json()["rows"][0] for answer in client.together(alone)] == together


def test_a_gate_of_batches_refuses_a_single_row(serve, gate_average):
    answer = serve(models={"it": gate_average}).post("/score", json={"rows": [dict.fromkeys(COLUMNS, 1.0)]})
    assert answer.status_code == 422
    assert "a single row came" in answer.json()["message"]


def test_the_saved_gate_is_the_one_that_is_served(client, saved):
    found = client.get("/models/gate").json()
    assert found["gate"]["certificate"]["promise"] == load(saved["gate"]).certificate().promise
