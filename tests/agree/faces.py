"""Each face as a function: a saved model, rows and options in; the columns that it added, by name, out."""

import asyncio
import io
import json

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
from cases import COLUMNS
from typer.testing import CliRunner

from vecuq import Gate, load
from vecuq.cli import app

MEDIA = {
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
    "arrow": "application/vnd.apache.arrow.stream",
}


def added(table):
    """The columns of a table that were not there before."""
    return {name: table[name] for name in table.column_names if name not in ("id", "subject", *COLUMNS)}


def command(model, new, out, options):
    """`vecuq score`."""
    words = [word for name, value in options.items() for word in _words(name, value)]
    done = CliRunner().invoke(app, list(map(str, ["score", model, new, "-o", out, *words])), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return added(pq.read_table(out))


def _words(name, value):
    return [f"--{name}"] if value is True else [f"--{name}", value]


def python(model, table, *, alpha=None, confidence=None, missing="nan", explain=False, select=None, by=None):
    """The methods of the loaded object."""
    loaded, rows = load(model), table.select(COLUMNS)
    ranker = loaded.model if isinstance(loaded, Gate) else loaded
    how = {} if not hasattr(ranker, "explain") else {"missing": missing, "warn": False}
    found = {"uncertainty": ranker.uncertainty(rows, **how), "p_value": ranker.p_values(rows, **how)}
    if alpha is not None:
        sure = {} if confidence is None else {"confidence": confidence}
        found["flagged"] = ranker.flag(rows, alpha, **sure, **how)
    if select is not None:
        found["selected"] = ranker.select(rows, alpha, method=select, **how)
    if explain:
        why = ranker.why(rows, missing=missing)
        flagged = found.get("flagged", [True] * len(why))
        found["why"] = [said if wanted else None for said, wanted in zip(why, flagged, strict=True)]
        parts = ranker.explain(rows, missing=missing).T
        found |= {f"contribution_{name}": part for name, part in zip(ranker.columns, parts, strict=True)}
    if isinstance(loaded, Gate):
        found["accept"] = loaded.accept(rows, by=None if by is None else table[by].to_pylist())
        found["p_wrong"] = loaded.p_wrong(rows)
    return {name: column.tolist() if hasattr(column, "tolist") else column for name, column in found.items()}


def dask(model, table, **options):
    """A frame of three partitions, computed in this process."""
    import dask.dataframe as dd

    from vecuq import cluster

    frame = dd.from_pandas(table.to_pandas(), npartitions=3, sort=False)
    scored = cluster.dask.score(model, frame, **options).compute(scheduler="synchronous")
    return added(pa.Table.from_pandas(scored, preserve_index=False))


def spark(session, model, table, **options):
    """A frame of three partitions, in the order of the rows."""
    from vecuq.cluster.spark import score

    place = pa.array(range(len(table)), pa.int64())
    frame = session.createDataFrame(table.drop_columns(["id"]).append_column("id", place)).repartition(3)
    return added(score(model, frame, **options).toArrow().sort_by("id"))


class Http:
    """An application that serves one model, called in this process."""

    def __init__(self, model):
        from vecuq.service import ServeSettings, create_app, make_service

        self.app = create_app(make_service(ServeSettings({"it": model})))

    def together(self, *requests):
        """Send requests (path, query, body, headers) at the same time; return the answers in this order."""
        import httpx

        async def run():
            how = {"transport": httpx.ASGITransport(app=self.app), "base_url": "http://127.0.0.1:8000", "timeout": 60}
            async with httpx.AsyncClient(**how) as client:
                return await asyncio.gather(
                    *(
                        client.post(path, params=query, content=body, headers=about)
                        for path, query, body, about in requests
                    )
                )

        return asyncio.run(run())

    def score(self, table, kind, accept=None, **options):
        """POST /score in a format; the answer comes in the same, or in another."""
        query = {name: json.dumps(value) if value is True else value for name, value in options.items()}
        about = {"content-type": MEDIA[kind], "accept": MEDIA[accept or kind]}
        (answer,) = self.together(("/score", query, body_of(table, kind), about))
        assert answer.status_code == 200, (kind, answer.text)
        assert answer.headers["content-type"] == about["accept"]
        rows = read(answer.content, accept or kind)
        assert [row["id"] for row in rows] == table["id"].to_pylist()
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: [row.get(name) for row in rows] for name in names if name not in ("id", "subject", *COLUMNS)}


def body_of(table, kind):
    """A table as the body of a request."""
    out = io.BytesIO()
    if kind == "csv":
        pc.write_csv(table, out)
    elif kind == "parquet":
        pq.write_table(table, out)
    elif kind == "arrow":
        with pa.ipc.new_stream(out, table.schema) as writer:
            writer.write_table(table, max_chunksize=100)
    elif kind == "jsonl":
        return "".join(json.dumps(row) + "\n" for row in table.to_pylist()).encode()
    else:
        return json.dumps({"rows": table.to_pylist()}).encode()
    return out.getvalue()


def read(content, kind):
    """The rows of an answer."""
    if kind == "csv":
        types = dict.fromkeys(("uncertainty", "p_value", "p_wrong"), pa.float64())
        how = pc.ConvertOptions(column_types=types, strings_can_be_null=True)
        return pc.read_csv(io.BytesIO(content), convert_options=how).to_pylist()
    if kind == "parquet":
        return pq.read_table(io.BytesIO(content)).to_pylist()
    if kind == "arrow":
        return pa.ipc.open_stream(content).read_all().to_pylist()
    if kind == "jsonl":
        return [json.loads(line) for line in content.splitlines()]
    return [_flat(row) for row in json.loads(content)["rows"]]


def _flat(row):
    """A row of a JSON answer, with contributions as a table has them."""
    row = dict(row)
    inner = row.pop("contributions", None) or {}
    return {**row, **{f"contribution_{name}": value for name, value in inner.items()}}
