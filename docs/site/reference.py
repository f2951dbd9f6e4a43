"""The pages of the reference that are made from the program: course files, results.json, the API of tests."""

import ast
import inspect
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from docs.site.schema_tables import sections
from viva.cli.schema import COURSE_FILES, schema_of
from viva.formats import results_json
from viva.model import isolation
from viva.sandbox import gpu

_COURSE_FILES = """\
# Course files

On this page you find every key of the files that configure a course: its values, its default and its meaning. The
tables come from the classes that viva reads the files into. The same is available as JSON Schema for your editor: see
[the author guide](../author-guide.md#let-your-editor-check-course-files).

If a file has a key that is not listed here, or a value that is not allowed, viva says in which line.
"""
_WHERE = {
    "grader": "`grader.yaml`, one for each course",
    "assignment": "`assignments/<a>/assignment.yaml`",
    "rubric": "`assignments/<a>/rubric.yaml`",
    "exceptions": "`assignments/<a>/exceptions.yaml`",
    "submission": "`fixtures/<a>/submissions/<kind>/<name>/submission.yaml`",
}
_RESULTS = """\
# results.json

On this page you find every key of `results.json` with its type. [Results](../results.md) shows an example and explains
how to read it. `viva schema` prints the JSON Schema that the tables come from
([results.schema.json](../results.schema.json)). A key without a value is left out of the file.
"""
_API = """\
# API for tests

On this page you find what tests import from viva: the decorators, the comparisons, and the helpers for training,
programs, artifacts and audits. The [author guide](../author-guide.md) shows how to use them.

## viva.grading

::: viva.grading
    options:
      filters: ["!^agree$", "!^_"]

::: viva.compare.agree.agree
    options:
      show_root_heading: true
      show_root_full_path: false
      show_root_toc_entry: true
      heading_level: 3

## viva.plugins.training

::: viva.plugins.training

## viva.plugins.training.artifacts

::: viva.plugins.training.artifacts

## viva.grading.programs

::: viva.grading.programs
    options:
      members: [check_command]

## viva.plugins.training.audits

::: viva.plugins.training.audits

## viva.check

Students call it in a notebook: see [the student guide](../student-guide.md#in-a-notebook-while-you-work).

::: viva.plugins.selfcheck.live_check.check
    options:
      show_root_heading: true
      show_root_full_path: false
      show_root_toc_entry: true
      heading_level: 3
"""


def course_files_page() -> str:
    """Return the page about the course files."""
    parts = [_COURSE_FILES]
    for name in COURSE_FILES:
        schema = {**schema_of(name)}
        what = str(schema.get("description", "")).removeprefix(f"{name}.yaml: ").capitalize()
        schema["description"] = f"{what} It is {_WHERE[name]}."
        parts += sections(schema, f"{name}.yaml")
    return "\n".join(parts)


def results_page() -> str:
    """Return the page about results.json."""
    schema = _with_meanings({**results_json.json_schema()}, results_json, isolation, gpu)
    return "\n".join([_RESULTS, *sections(schema, "results.json")])


def api_page() -> str:
    """Return the page about the API; mkdocstrings reads the docstrings."""
    return _API


def _with_meanings(schema: dict[str, Any], *modules: ModuleType) -> dict[str, Any]:
    """Return the schema with the docstrings below the fields, which pydantic would read too slowly at each start."""
    meanings = field_docstrings("\n".join(map(inspect.getsource, modules)))
    parts = {name: _described(part, meanings.get(name, {})) for name, part in schema["$defs"].items()}
    return {**_described(schema, meanings["Results"]), "$defs": parts}


def _described(part: Mapping[str, Any], meanings: Mapping[str, str]) -> dict[str, Any]:
    keys = {key: _without_null(each) for key, each in part.get("properties", {}).items()}
    return {
        **part,
        "properties": {
            key: {**each, "description": meanings[key]} if key in meanings else each for key, each in keys.items()
        },
    }


def _without_null(part: dict[str, Any]) -> dict[str, Any]:
    """Return a key's schema without `null`, which viva never writes."""
    kinds = [each for each in part.get("anyOf", []) if each != {"type": "null"}]
    return {**part, "anyOf": kinds} if kinds else part


def field_docstrings(source: str) -> dict[str, dict[str, str]]:
    """Return for each class of a module the texts below its annotated fields, by the fields' names."""
    found: dict[str, dict[str, str]] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            pairs = zip(node.body, node.body[1:], strict=False)
            found[node.name] = {
                name: below for each, after in pairs if (name := _field(each)) and (below := _text(after))
            }
    return found


def _field(node: ast.stmt) -> str:
    return node.target.id if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) else ""


def _text(node: ast.stmt) -> str:
    value = node.value if isinstance(node, ast.Expr) else None
    return inspect.cleandoc(value.value) if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""
