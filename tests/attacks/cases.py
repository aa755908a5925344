"""Every input that once broke something, by name: how it is made, and whether it is taken now or refused."""

import io
import struct
import zipfile
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from vecuq.testing import Attack, example, put_together, taken_apart
from vecuq.testing.hostile import parquet as footers
from vecuq.testing.hostile.thrift import Value


class Case(NamedTuple):
    """How an attack is made, and whether its input is taken."""

    attack: Callable[[], Attack]
    taken: bool


def frame(library, **columns):
    """A table in memory, as a library hands it over."""
    table = pa.table({"entropy": pa.array([0.5]), "knn": pa.array([0.25]), **columns})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return Attack(f"frame {library}", {"table.arrows": sink.getvalue()})


def parquet(**columns):
    """A parquet file with some columns."""
    sink = io.BytesIO()
    pq.write_table(pa.table({"entropy": pa.array([0.5]), "knn": pa.array([0.25]), **columns}), sink)
    return Attack("table .parquet", {"new.parquet": sink.getvalue()})


def parquet_footer(change):
    """A parquet file whose footer says something else of its first column."""
    content = parquet().files["new.parquet"]
    footer, start = footers._footer(content)
    change(footer.fields[4].content[0].fields[1].content[0].fields[3].fields)
    return Attack("table .parquet", {"new.parquet": footers._with_footer(content[:start], footer)})


def with_long_histogram(about):
    """Count the rows with and without a value a hundred times over; Arrow 19 and later look at this."""
    about[16] = Value(12, None, {3: Value(9, [Value(6, 1)] * 100)})


def npz(**members):
    """An archive with the bytes of some arrays."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return Attack("table .npz", {"new.npz": sink.getvalue()})


def npy(header):
    """An array of two zeros under a header of our own."""
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(16)


def saved(kind, change):
    """A saved file whose header or arrays were changed, with a right checksum."""
    header, arrays = taken_apart(example(kind).to_bytes())
    change(header, arrays)
    return Attack(f"saved {kind}", {f"{kind}.vecuq": put_together(header, arrays)}, facts={"where": "", "how": ""})


def in_header(kind, path, value):
    """A saved file with one value of its header changed."""

    def change(header, _):
        *before, last = path.split(".")
        for name in before:
            header = header[name]
        header[last] = value

    return saved(kind, change)


def in_array(kind, name, change):
    """A saved file with one array changed."""
    return saved(kind, lambda _, arrays: arrays.update({name: change(arrays[name])}))


def with_last(value):
    """Change the last number of an array."""

    def change(array):
        changed = array.copy()
        changed.reshape(-1)[-1] = value
        return changed

    return change


def far_below_its_rows(_, arrays):
    """Widen the box of a sketch beyond all sense, and put all rows at its upper end."""
    arrays["box_low"] = np.full(2, -1e200)
    arrays["moments"][1, 0] = arrays["moments"][0, 1] = arrays["moments"][0, 0]


def reply(status, body=b"{}"):
    """What a server sends."""
    return Attack("reply", {"reply": f"{status}\r\n\r\n".encode() + body})


def line(words, **files):
    """A command line, with files of its own beside those of the workspace."""
    named = {name.replace("_dot_", "."): content for name, content in files.items()}
    return Attack(f"command {words.split()[0]}", named, tuple(words.split()))


LATE = pa.array([2**60], pa.timestamp("s"))
KEY = "sk-hostile-0123456789"
CASES = {
    # Tables in memory
    "a time beyond the years of Python, in pyarrow": Case(lambda: frame("pyarrow", knn=LATE), taken=False),
    "a time beyond the years of Python, in polars": Case(lambda: frame("polars", knn=LATE), taken=False),
    "a time beyond the years of Python beside the scores": Case(lambda: frame("pyarrow", when=LATE), taken=True),
    "a date as a score": Case(lambda: frame("pandas", knn=pa.array([datetime(2024, 1, 31)])), taken=False),
    "a time beyond the years of Python, after missing ones": Case(
        lambda: frame("polars", entropy=pa.array([None], pa.float64()), knn=LATE), taken=False
    ),
    "a duration beyond the years of Python": Case(
        lambda: frame("pyarrow", knn=pa.array([2**60], pa.duration("s"))), taken=False
    ),
    "a list of times beyond the years of Python": Case(
        lambda: frame("polars", knn=pa.array([[2**60]], pa.list_(pa.timestamp("s")))), taken=False
    ),
    "bytes that look like a number": Case(lambda: frame("numpy", knn=pa.array([b"0"])), taken=False),
    "a decimal in memory is read to the last bit": Case(
        lambda: frame("pyarrow", knn=pa.array([Decimal("33.554433")])), taken=True
    ),
    "whole numbers beyond 2^53": Case(lambda: frame("pyarrow", knn=pa.array([2**53 + 1])), taken=True),
    "the smallest whole number": Case(lambda: frame("pyarrow", knn=pa.array([-(2**63)])), taken=True),
    # Table files
    "a decimal is read to the last bit": Case(lambda: parquet(knn=pa.array([Decimal("21.195817")])), taken=True),
    "a time beyond the years of Python, in a file": Case(
        lambda: parquet(knn=pa.array([2**45], pa.timestamp("s"))), taken=False
    ),
    "a footer that would end the process": Case(
        lambda: parquet_footer(with_long_histogram), taken=int(pa.__version__.split(".")[0]) < 19
    ),
    "a footer with a size of another width": Case(
        lambda: parquet_footer(lambda about: about.update({7: Value(5, 100)})), taken=False
    ),
    "a footer with a place before the file": Case(
        lambda: parquet_footer(lambda about: about.update({9: Value(6, -8)})), taken=False
    ),
    "an npy header that ends in the middle": Case(
        lambda: npz(entropy=npy("{'descr': '<f8', 'shape': (2,\n"), knn=b""), taken=False
    ),
    "a column called selected that holds numbers": Case(lambda: parquet(selected=pa.array([0.5])), taken=True),
    # Saved files
    "settings that are nothing": Case(lambda: in_header("model", "settings", None), taken=False),
    "an overshoot beyond all numbers": Case(lambda: in_header("model", "settings.overshoot", 1e308), taken=False),
    "a calibration that falls": Case(lambda: in_array("model", "calibration", np.flip), taken=False),
    "a potential that is not a number": Case(lambda: in_array("model", "log_v", with_last(np.nan)), taken=False),
    "a sketch of a boundless box": Case(lambda: in_array("sketch", "box_high", with_last(1e308)), taken=False),
    "a sketch of a box wider than all numbers": Case(
        lambda: saved(
            "sketch", lambda _, arrays: arrays.update(box_low=np.full(2, -1e308), box_high=np.full(2, 1e308))
        ),
        taken=False,
    ),
    "a temperature that squares beyond all numbers": Case(
        lambda: in_header("pipeline", "temperature", 1e-300), taken=False
    ),
    "a sketch of a box that begins far below its rows": Case(
        lambda: in_array("sketch", "box_low", lambda box: np.array([-1e308, box[1]])), taken=False
    ),
    "a sketch of such a box, with moments to match": Case(lambda: saved("sketch", far_below_its_rows), taken=False),
    "a temperature of next to nothing": Case(lambda: in_header("pipeline", "temperature", 5e-324), taken=False),
    "a density beyond all numbers": Case(
        lambda: in_array("pipeline", "density/mahalanobis/means", with_last(1e308)), taken=False
    ),
    "a density without a shape": Case(
        lambda: in_array("pipeline", "density/mahalanobis/whitening", np.zeros_like), taken=False
    ),
    "a live gate that accepted more than it remembers": Case(
        lambda: saved("live", lambda header, _: header.update(accepted=header["accepted"] + 1)), taken=False
    ),
    "a live gate that decided more than it remembers": Case(
        lambda: saved("live", lambda header, _: header.update(decided=header["decided"] + 1)), taken=False
    ),
    # Answers
    "a line without an id and with nobody's question": Case(
        lambda: Attack(
            "answers lm-eval",
            {"line": b'{"doc_id": null, "doc": {"question": "q"}, "resps": [""]}'},
            facts={"as": "auto"},
        ),
        taken=True,
    ),
    # Servers
    "a status line that holds the key": Case(lambda: reply(f"Authorization: Bearer {KEY}"), taken=False),
    "half a character in an answer": Case(
        lambda: reply("HTTP/1.1 200 OK", b'{"choices": [{"message": {"content": "\\ud83d"}}]}'), taken=False
    ),
    # Commands
    "a note in place of a model file": Case(lambda: line("fit calibration.parquet --out notes.txt"), taken=False),
    "a model in place of a report": Case(lambda: line("report model.vecuq new.csv --out model.vecuq"), taken=False),
    "a state in place of a model file": Case(lambda: line("fit calibration.parquet --out monitor.vecuq"), taken=False),
}
