"""What the OpenAPI document says of feedback."""

from __future__ import annotations

from typing import Any

from vecuq.service.keeping import FORMATS

_TRUTH = {"type": ["boolean", "null"]}
_ONE: dict[str, Any] = {
    "title": "Feedback",
    "type": "object",
    "required": ["id"],
    "additionalProperties": False,
    "properties": {
        "id": {
            "type": "string",
            "minLength": 1,
            "maxLength": 200,
            "description": "The id that the row was scored with.",
        },
        "kind": {
            "enum": ["audit", "review"],
            "default": "review",
            "description": "audit: the row was drawn at random, and its label counts towards the bound of the gate.",
        },
        "correct": {**_TRUTH, "description": "Whether the answer is right; an audit needs it."},
        "ood": {**_TRUTH, "description": "Whether the row is out of distribution."},
        "comment": {"type": ["string", "null"], "maxLength": 2_000},
        "who": {"type": ["string", "null"], "maxLength": 100, "description": "Or in the header `who`."},
        "model": {"type": ["string", "null"], "description": "By default the model that /score means."},
    },
}
_EXAMPLES: dict[str, Any] = {
    "review": {"value": {"id": "q17", "correct": False, "comment": "wrong year", "who": "ana"}},
    "audit": {"value": {"feedback": [{"id": "q17", "kind": "audit", "correct": True}]}},
}
_SEVERAL = {
    "title": "Feedback on several rows",
    "type": "object",
    "required": ["feedback"],
    "additionalProperties": False,
    "properties": {"feedback": {"type": "array", "maxItems": 10_000, "items": _ONE}},
}
BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"anyOf": [_ONE, _SEVERAL]}, "examples": _EXAMPLES}},
    }
}
FEEDBACK_TAKEN: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "What became of each feedback, which is on disk. "
        "`scored` is false if no row with this id is in the log: "
        "the id may be misspelt, or the row was not kept (`--log`, `--keep-days`, `--keep-rows`).",
        "content": {
            "application/json": {
                "example": {"feedback": [{"id": "q17", "status": "stored", "scored": True, "counted": True}]}
            }
        },
    },
    404: {"description": "`not_audited`: the row was not drawn for the audit. `no_model`: no such model."},
    409: {"description": "`contradiction`: the audit of the row has another label, which is final."},
    503: {"description": "`no_store`: the service keeps nothing. `store_unavailable`: try again."},
}
EXPORTED: dict[int | str, dict[str, Any]] = {
    200: {"description": "A table.", "content": {one.partition(";")[0]: {} for one in FORMATS.values()}}
}
