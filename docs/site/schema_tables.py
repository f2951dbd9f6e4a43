"""JSON Schemas as tables of keys: which values a key may have, its default and its meaning."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from docs.site.markup import code, table, text

Schema = Mapping[str, Any]

_PATTERNS = {
    r"^[0-9W-]+[T ][0-9:.,]+(Z|[+-][0-9:.]+| [A-Za-z]\S*)$": "a date and time with its zone",
    r"(s|m|h|d)$": "a time such as 15m, 24h or 2d",
    "%(": "a share such as 10%, or 10% of maximum",
    "[eE]": "an exact number such as 1/3",
    r"/[1-9][0-9]{0,199}": "an exact number such as 25/3",
    "^((env|file):": "env:NAME or file:PATH",
}
"""A part of a pattern, and what it means in words; of several, the first."""


def sections(schema: Schema, title: str, level: str = "##") -> Iterator[str]:
    """Return the file and each kind of mapping in it, as sections with a table.

    Args:
        schema: the JSON Schema of a file.
        title: the heading of the first section.
        level: the number signs of the first heading; the other headings are one level below.
    """
    parts = schema.get("$defs", {})
    yield _section(schema, title, level, title, parts)
    for name, part in _in_order(schema):
        yield _section(part, heading(name), f"{level}#", title, parts)


def heading(name: str) -> str:
    """Return the heading of a kind of mapping: the name of its class, without what only the program needs to know."""
    return name.removesuffix("File")


def _in_order(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """Return the kinds of mappings in the order in which a reader meets them."""
    parts, names = schema.get("$defs", {}), _named(schema)
    for name in names:
        names += [each for each in _named(parts[name]) if each not in names]
        yield name, parts[name]


def _named(schema: object) -> list[str]:
    """Return the kinds of mappings that a schema refers to, outside its definitions."""
    if isinstance(schema, list):
        found = [name for each in schema for name in _named(each)]
    elif isinstance(schema, Mapping):
        own = [schema["$ref"].rpartition("/")[2]] if "$ref" in schema else []
        found = own + [name for key, each in schema.items() if key != "$defs" for name in _named(each)]
    else:
        found = []
    return list(dict.fromkeys(found))


def _section(schema: Schema, title: str, level: str, file: str, parts: Schema) -> str:
    required = schema.get("required", [])
    keys = [*schema.get("properties", {}).items(), *schema.get("patternProperties", {}).items()]
    rows = [
        [code(key), _values(part, file), _default(key, part, required), text(_meaning(part, parts))]
        for key, part in keys
    ]
    # The id has the file's name, because two files may have a kind of mapping of the same name.
    head = f"{level} {title} {{ #{_id(file, title)} }}\n\n{text(schema.get('description', ''))}\n\n"
    return head + table(["key", "value", "default", "meaning"], rows)


def _meaning(part: Schema, parts: Schema) -> str:
    """Return what a key means; if nothing is said of the key, what is said of the mapping that it holds."""
    if "description" in part or "$ref" not in part:
        return str(part.get("description", ""))
    return str(parts[part["$ref"].rpartition("/")[2]].get("description", ""))


def _id(file: str, title: str) -> str:
    return f"{file}-{title}".lower().replace(".", "-") if file != title else file.lower().replace(".", "-")


def _default(key: str, part: Schema, required: list[str]) -> str:
    if key in required:
        return "required"
    default = part.get("default")
    if default is None or default == "":
        return ""
    shown = default if isinstance(default, str) else json.dumps(default)
    return code(shown.removesuffix(".0") if isinstance(default, float) else shown)


def _values(part: Schema, file: str) -> str:
    """Return which values are allowed, in words."""
    if "$ref" in part:
        name = part["$ref"].rpartition("/")[2]
        return f"[{heading(name)}](#{_id(file, heading(name))})"
    if "anyOf" in part:
        return " or ".join(dict.fromkeys(_values(each, file) for each in part["anyOf"]))
    if "enum" in part:
        return ", ".join(code(str(value)) for value in part["enum"])
    if "const" in part:
        return code(json.dumps(part["const"]).strip('"'))
    kinds = part.get("type", "anything")
    return " or ".join(_kind(kind, part, file) for kind in (kinds if isinstance(kinds, list) else [kinds]))


def _kind(kind: str, part: Schema, file: str) -> str:
    if kind == "string" and (words := [text for sign, text in _PATTERNS.items() if sign in part.get("pattern", "")]):
        return words[0]
    if kind == "array":
        inner = _values(part.get("items", {}), file)
        return "a list" if inner == "anything" else f"a list: {inner}"
    if kind == "object":
        return _mapping(part, file)
    if kind in ("number", "integer"):
        return f"{'a whole number' if kind == 'integer' else 'a number'}{_bounds(part)}"
    return {"string": "text", "boolean": "`true` or `false`", "null": "`null`"}.get(kind, kind)


def _mapping(part: Schema, file: str) -> str:
    patterns = list(part.get("patternProperties", {}).values())
    inner = patterns[0] if patterns else part.get("additionalProperties")
    return f"a mapping of names: {_values(inner, file)}" if isinstance(inner, Mapping) else "a mapping"


def _bounds(part: Schema) -> str:
    least, most = part.get("minimum"), part.get("maximum")
    above = part.get("exclusiveMinimum")
    words = [
        f"from {least:,}" if least is not None else "",
        f"more than {above:,}" if above is not None else "",
        f"up to {most:,}" if most is not None else "",
    ]
    return "".join(f" {each}" for each in words if each)
