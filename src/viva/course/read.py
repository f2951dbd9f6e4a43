"""A course file becomes a checked model, or one sentence: file, line, key, what was found, what is allowed."""

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from viva.formats.strict_yaml import Document, YamlProblem, read_yaml
from viva.model.errors import CourseError

Model = TypeVar("Model", bound=BaseModel)


def read_model(path: Path, model: type[Model]) -> Model:
    """Read a YAML file of the course.

    Raises:
        CourseError: it is missing, unreadable, no YAML, or says something that is not allowed.
    """
    document = read_document(path)
    if not isinstance(document.value, dict):
        keys = ", ".join(name for name, field in model.model_fields.items() if field.is_required())
        raise CourseError(f"{path}: expected `key: value` lines (at least: {keys}), found {_found(document.value)}.")
    try:
        return model.model_validate(document.value)
    except ValidationError as error:
        raise CourseError(_sentence(path, document, model, error)) from None


def read_document(path: Path) -> Document:
    """Read a YAML file without a model.

    Raises:
        CourseError: it is missing, unreadable or no YAML.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise CourseError(f"{path} does not exist.") from None
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise CourseError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8.") from None
    try:
        return read_yaml(text)
    except YamlProblem as problem:
        raise CourseError(f"{_place(path, problem.line)}: {problem.text}.") from None


def _sentence(path: Path, document: Document, model: type[BaseModel], error: ValidationError) -> str:
    problems = error.errors(include_url=False)
    first = min(problems, key=lambda p: document.line(_path(document.value, p["loc"])) or 0)
    where = _path(document.value, first["loc"])
    key = ".".join(str(step) for step in where)
    place = _place(path, document.line(where))
    more = f" ({len(problems) - 1} more in this file.)" if len(problems) > 1 else ""
    match first["type"]:
        case "extra_forbidden":
            allowed = list(_model_at(model, where[:-1]).model_fields)
            return f"{place}: {key}: there is no such key{suggest(str(where[-1]), allowed)}{more}"
        case "missing":
            return f"{path}: {'.'.join(str(s) for s in first['loc'])}: this key is needed and is missing.{more}"
    written = document.texts.get(where, "")
    found = f"`{written[:80]}`" if written else _found(first["input"])
    return f"{place}: {key}: found {found}, expected {_expected(first)}.{more}"


def _path(value: Any, loc: Sequence[str | int]) -> tuple[str | int, ...]:
    """The part of pydantic's location that lies in the document (unions add steps of their own)."""
    path: list[str | int] = []
    for step in loc:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            continue
        path.append(step)
    return tuple(path)


def _model_at(model: type[BaseModel], path: Sequence[str | int]) -> type[BaseModel]:
    for step in path:
        inner = model.model_fields[str(step)].annotation
        assert isinstance(inner, type) and issubclass(inner, BaseModel)  # keys are unknown only where keys are known
        model = inner
    return model


def _expected(problem: Mapping[str, Any]) -> str:
    context: Mapping[str, Any] = problem.get("ctx", {})
    match problem["type"]:
        case "value_error":
            return str(context["error"])
        case "literal_error":
            return str(context["expected"]).replace("'", "")
        case "int_type" | "int_from_float" | "int_parsing":
            return "a whole number"
        case "float_type" | "float_parsing":
            return "a number"
        case "bool_type" | "bool_parsing":
            return "true or false"
        case "string_type" | "string_too_short":
            return "a text"
        case "list_type":
            return "a list, such as [a, b]"
        case "model_type" | "model_attributes_type":
            return "keys with values, such as {key: value}"
        case "greater_than":
            return f"more than {context['gt']:g}"
        case "greater_than_equal":
            return f"{context['ge']:g} or more"
        case "less_than_equal":
            return f"{context['le']:g} or less"
        case "string_pattern_mismatch":
            return _PATTERNS.get(context["pattern"], f"a text of the form {context['pattern']}")
    return str(problem["msg"])


_PATTERNS = {
    r"^(env|file):.+$": "env:NAME (an environment variable) or file:PATH",
    r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$": "a folder's name of letters, digits, `_`, `-` and `.`",
    r"^[^\W\d]\w*(\.[^\W\d]\w*)*$": "a module's name, such as numpy or torch.nn",
}


def suggest(word: str, allowed: Sequence[str]) -> str:
    """The end of a sentence about a name that does not exist: what was meant, or else what there is."""
    close = difflib.get_close_matches(word, allowed, 1, 0.6)
    return f"; did you mean `{close[0]}`?" if close else f"; there are: {', '.join(allowed) or 'none'}."


def _place(path: Path, line: int | None) -> str:
    return f"{path}:{line}" if line else str(path)


def _found(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "keys with values"
    if isinstance(value, list):
        return "a list"
    return f"`{str(value)[:80]}`"
