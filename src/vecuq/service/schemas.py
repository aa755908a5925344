"""JSON schemas in words: the type of a value, its fields, and an example of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]
_DEEPEST = 6  # a schema may hold itself
_PLAIN = {"string": "text", "integer": 0, "number": 0.5, "boolean": True, "null": None}


def type_of(schema: Schema) -> str:
    """Return the type of a value in words.

    Examples
    --------
    >>> type_of({"anyOf": [{"type": "array", "items": {"$ref": "#/components/schemas/Row"}}, {"type": "null"}]})
    'list of Row or null'
    """
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "enum" in schema or "const" in schema:
        return " or ".join(json.dumps(one) for one in schema.get("enum", [schema.get("const")]))
    choices = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if choices:
        return " or ".join(dict.fromkeys(type_of(one) for one in choices))
    if schema.get("type") == "array":
        return f"list of {type_of(schema.get('items', {}))}"
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return f"object of {type_of(schema['additionalProperties'])}"
    kind = schema.get("type", "any")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def fields_of(schema: Schema) -> list[dict[str, Any]]:
    """Return the fields of an object, each with type, meaning and whether it must be there."""
    required = schema.get("required", [])
    return [
        {
            "name": name,
            "type": type_of(one),
            "required": name in required,
            "description": one.get("description", ""),
            "default": json.dumps(one["default"]) if one.get("default") is not None else "",
        }
        for name, one in schema.get("properties", {}).items()
    ]


def example_of(schema: Schema, document: Mapping[str, Any], *, depth: int = 0) -> Any:
    """Return a value that a schema allows: its own example where it has one."""
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        found = document.get("components", {}).get("schemas", {}).get(name, {})
        return None if depth > _DEEPEST else example_of(found, document, depth=depth + 1)
    for key in ("example", "const", "default"):
        if schema.get(key) is not None:
            return schema[key]
    if schema.get("examples"):
        return schema["examples"][0]
    if schema.get("enum"):
        return schema["enum"][0]
    choices = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if choices:
        return example_of(choices[0], document, depth=depth + 1)
    return _example_by_type(schema, document, depth)


def _example_by_type(schema: Schema, document: Mapping[str, Any], depth: int) -> Any:
    if depth > _DEEPEST:
        return None
    if schema.get("type") == "array":
        return [example_of(schema.get("items", {}), document, depth=depth + 1)]
    if schema.get("type") == "object" or "properties" in schema:
        properties = schema.get("properties", {})
        return {name: example_of(one, document, depth=depth + 1) for name, one in properties.items()}
    return _PLAIN.get(schema.get("type", ""))
