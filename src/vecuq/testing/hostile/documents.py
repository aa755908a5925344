"""Whole documents of answers, archives of them, and maps of fields, nearly right."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

from hypothesis import strategies as st

from vecuq.testing.hostile.answers import good_line
from vecuq.testing.hostile.byte_level import damaged
from vecuq.testing.hostile.json_level import altered, as_json

_TASK = {"config": {"epochs": 1}, "model": "m", "model_generate_config": {"temperature": 0}}
_RECORD = {
    "idx": 0,
    "q": "q",
    "samples": ["x", "y"],
    "runs": [{"text": "x", "p": -1.0}, {"text": "y", "p": -2.0}],
    "output": {"text": "x", "tokens": ["x"], "logprobs": [-1.0]},
    "gold": ["x"],
    "ok": 1,
}
_PATHS = (
    *("idx", "q", "samples", "samples[*]", "runs[*].text", "runs[*].p", "runs[0].text", "output.text", "output.tokens"),
    *("output.logprobs", "gold", "ok", "sample*", "*", "[*]", "output", "nothing", "runs[9].text", "q[0]", "[0][*]"),
    *("", ".", "a..b", "[", "a[b]", "a]", "x" * 2000, "a." * 40 + "a", "\x00", "runs.*.text"),
)
_RIGHT = {
    "id": "idx",
    "question": "q",
    "answer": "output.text",
    "samples": "runs[*].text",
    "references": "gold",
    "logprobs": "output.logprobs",
    "tokens": "output.tokens",
    "quality": "ok",
}
_KEYS = ("records", "id", "question", "answer", "samples", "references", "logprobs", "tokens", "quality", "other")


def whole_documents() -> dict[str, dict[str, Any]]:
    """Return a good document of every kind that wraps its entries."""
    return {
        "inspect": {"eval": _TASK, "samples": [good_line("inspect", f"good{k}") for k in range(2)]},
        "promptfoo": {"results": {"version": 3, "results": [good_line("promptfoo", "good", k) for k in range(2)]}},
    }


@st.composite
def document_files(draw: st.DrawFn) -> bytes:
    """Return a strategy of JSON documents, on one line or on many, with altered values or damaged bytes."""
    whole, _ = draw(altered(draw(st.sampled_from(list(whole_documents().values())))))
    text = as_json(whole).replace(", ", draw(st.sampled_from((", ", ",\n")))).encode()
    return draw(damaged(text)) if draw(st.integers(0, 3)) == 0 else text


@st.composite
def eval_files(draw: st.DrawFn) -> bytes:
    """Return a strategy of archives of Inspect AI: with odd members, sizes that lie, or damaged bytes."""
    whole, _ = draw(altered(whole_documents()["inspect"]))
    samples = whole.get("samples") if isinstance(whole, dict) else None
    header = as_json({"eval": whole.get("eval")} if isinstance(whole, dict) else whole).encode()
    members = {draw(st.sampled_from(("header.json", "_journal/start.json", "other"))): header}
    for k, sample in enumerate(samples if isinstance(samples, list) else [samples]):
        members[draw(st.sampled_from((f"samples/{k}_epoch_1.json", f"samples/{k}", "samples/\x1b.json")))] = as_json(
            sample
        ).encode()
    how = draw(st.sampled_from((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_LZMA)))
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", how) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, how)
    packed = sink.getvalue()
    if draw(st.integers(0, 3)) == 0:  # method 93 is zstd
        packed = packed.replace(how.to_bytes(2, "little"), draw(st.sampled_from((93, 99, 9))).to_bytes(2, "little"))
    return draw(damaged(packed)) if draw(st.booleans()) else packed


@st.composite
def mapped_records(draw: st.DrawFn) -> tuple[bytes, dict[str, str]]:
    """Return a strategy of a record of no known kind, and of a map of its fields, of which some lead nowhere."""
    record, _ = draw(altered(_RECORD))
    odd = draw(st.lists(st.sampled_from(_KEYS), max_size=3, unique=True))
    told = dict(_RIGHT) if draw(st.booleans()) else {}
    told |= {key: draw(st.sampled_from(_PATHS) | st.text(max_size=8)) for key in odd}
    return as_json(record).encode().replace(b"\n", b" "), told


def as_fact(told: dict[str, str]) -> str:
    """Return a map as one text, for the record of an attack."""
    return json.dumps(told)
