"""The JSON Schemas of course files: an editor and the reader agree on what is wrong."""

import copy
import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from tests.support.table_rows import Rows
from viva.cli.schema import COURSE_FILES, command, schema_of
from viva.config.read_config import CourseDocument, read_document
from viva.config.strict_yaml import read_yaml
from viva.formats.results_json import json_schema
from viva.model.errors import CourseError

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "src" / "viva" / "authoring" / "templates" / "course"
GUIDES = {name: (ROOT / "docs" / f"{name}.md").read_text("utf-8") for name in ("grades", "author-guide")}

FULL = {
    "grader": """\
course: nlp
secret: file:.secret
min_tier: T2
records: sqlite:///records.db
workers: 4
assignments: [masks, lora]
""",
    "assignment": """\
title: Masks
version: 3
submission: {notebook: "hw?.ipynb", module: masks.py}
load: definitions
device: cpu
points: 100/3
preload: [numpy, "torch?"]
limits: {load_s: 60, call_s: 2.5, test_s: 9, submission_s: 99, memory_mib: 512, disk_mib: 9, output_kib: 9,
         processes: 9, fork: false}
data: [data/corpus.txt]
forbid: [sacrebleu]
due: 2026-12-01 23:59 Europe/Vienna
policy:
  grace: 15m
  late: [{until: 24h, minus: 10%}, {minus: 50% of maximum}]
  closes: 7d
  attempts: {count: 3, which: best}
  nothing: zero
  extra_credit: cap
  rounding: {to: 0.5, half: up}
min_tier: T1
python: .venv/bin/python
suite: otter
release:
  withhold: [test_a]
  answers: true
  gradescope: {timeout: 40m, hidden: hidden, training: false, files: [a]}
""",
    "rubric": """\
questions:
  2.1:
    title: Why attention?
    points: 3
    model: Each position reads every other one directly.
    items:
      - {id: bottleneck, points: 1.5, text: "names the bottleneck"}
      - {id: rnn, points: -1/2, text: "says that recurrent networks read no order", group: slips}
    groups:
      slips: {exclusive: true, cap: 2, floor: -1}
    accept: ["cross-attention only"]
    note: Both orders are fine.
    misconceptions:
      - {text: "Attention is cheaper.", comment: "It is quadratic in the length.", item: rnn}
    evidence: ["2.1"]
    references: ["Vaswani et al. (2017)"]
""",
    "exceptions": """\
exceptions:
- {students: [ada, 1234567], due: 2026-12-05 23:59 UTC, by: M. Weber, reason: ill}
- {students: bo, excused: true, by: M. Weber, reason: exchange year}
- {students: bo, points: -2.5, by: J. Doe, reason: copied 2.1}
""",
    "submission": """\
base: accepted/plain
without: [answers.yaml]
mistake: Counts everything twice.
score: 25/3
training: 2
failing: [test_a]
message: "expected 3"
""",
}
NAMES = [f"{file}.yaml" for file in COURSE_FILES]
FIRST = {
    "grader": "course", "assignment": "title", "rubric": "questions", "exceptions": "exceptions", "submission": "base",
}  # fmt: skip

# What only reading tells: times that are written well, but are too long.
LOOSER = {("release.gradescope.timeout", '"24h"'), ("release.gradescope.timeout", '"9d"')}
ODD: list[Any] = [
    *(None, True, False, 0, 1, 5, -1, 10**9, 1.5, -0.5, "", " ", "x", "a b", "null", "1/0", "0.5", "-1/2", "100/3"),
    *("10%", "10% of maximum", "200%", "24h", "9d", "24 h", "T2", "auto", "ir", "numpy.x", "torch?", "env:X", "file:"),
    *("2026-12-01T23:59:00Z", "2026-12-01T23:59:00", "2026-12-01", "2026-12-01 23:59 UTC", "kernel: x"),
    *([], ["a"], ["a", "a"], [1], [None], {}, {"a": 1}, [{}]),
]
"""Put in the place of every value."""


def read(file: str, text: str) -> Any:
    """What the reader makes of a text, without the checks that look at other files."""
    document = CourseDocument(Path(f"{file}.yaml"), read_yaml(text))
    module, name = COURSE_FILES[file]
    model = getattr(import_module(module), name)
    return document.read(model)


def accepts(file: str, value: Any) -> bool:
    return bool(jsonschema.Draft202012Validator(schema_of(file)).is_valid(value))


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value of nested mappings and lists."""
    if at:
        yield at
    for step, each in value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ()):
        yield from places(each, (*at, step))


def replaced(value: Any, at: tuple[Any, ...], by: Any) -> Any:
    value = around = copy.deepcopy(value)
    for step in at[:-1]:
        around = around[step]
    around[at[-1]] = by
    return value


def keys_of(schema: Any) -> Iterator[tuple[str, str, Any]]:
    for name, part in [("", schema), *schema.get("$defs", {}).items()]:
        yield from ((name, key, value) for key, value in part.get("properties", {}).items())


@pytest.mark.parametrize("file", COURSE_FILES)
def test_keys_are_explained(file: str) -> None:
    schema: Any = schema_of(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["title"] == f"{file}.yaml"
    keys = list(keys_of(schema))
    assert len(keys) >= 1
    for where, key, value in keys:
        told = value.get("description") or schema["$defs"][value["$ref"].rpartition("/")[2]]["description"]
        assert re.fullmatch(r"[A-Za-z`].{3,}\.", told, re.S), (where, key, told)


def test_files_of_this_repository() -> None:
    folders = [*ROOT.glob("assignments/*"), *ROOT.glob("fixtures/*/submissions/*/*"), ROOT, *TEMPLATE.rglob("*")]
    found = [folder / name for folder in folders for name in NAMES if (folder / name).is_file()]
    assert len(found) >= 15 and {path.name for path in found} == set(NAMES) - {"exceptions.yaml"}
    with Rows() as row:
        for path in found:
            with row(str(path)):
                jsonschema.Draft202012Validator(schema_of(path.stem)).validate(read_document(path).document.value)


def test_examples_of_the_guides() -> None:
    blocks = re.findall(r"^```yaml\n(.*?)^```$", "".join(GUIDES.values()), re.M | re.S)
    seen = set()
    for block in blocks:
        value = read_yaml(block).value
        file = next((f for f, key in FIRST.items() if isinstance(value, dict) and key in value), None)
        if file:
            jsonschema.Draft202012Validator(schema_of(file)).validate(value)
            seen.add(file)
    assert {"assignment", "rubric", "exceptions", "submission"} <= seen


LARGEST = pytest.param("assignment", marks=pytest.mark.long)


@pytest.mark.parametrize("file", [LARGEST if file == "assignment" else file for file in COURSE_FILES])
def test_schema_and_reader_agree_on_values(file: str) -> None:
    """What it refuses, the reader refuses, and the other way round.

    Each value of a file with every key is replaced by each of many others; an editor must not be wrong about one."""
    full = read_yaml(FULL[file]).value
    validator = jsonschema.Draft202012Validator(schema_of(file))
    assert validator.is_valid(full)
    looser = set()
    with Rows() as row:
        for at in places(full):
            for odd in ODD:
                value = replaced(full, at, odd)
                with row(*at, odd):
                    try:
                        read(file, json.dumps(value))
                    except CourseError:
                        if validator.is_valid(value):
                            looser.add((".".join(map(str, at)), json.dumps(odd)))
                        continue
                    assert validator.is_valid(value), "the reader accepts it"
    assert looser == (LOOSER if file == "assignment" else set())


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("grader", "course: nlp\nassignment: [a]\n"),  # a misspelt key
        # a missing key
        ("grader", "- course\n"),
        ("assignment", "titel: Masks\n"),
        ("rubric", "question: {}\n"),
        ("exceptions", "exceptions: [{students: ada, due: 2026-12-05T00:00:00Z, reason: ill}]\n"),
        ("submission", "scor: 0\n"),
    ],
)
def test_schema_and_reader_agree_on_keys(file: str, text: str) -> None:
    value = read_yaml(text).value
    assert not accepts(file, value)
    with pytest.raises(CourseError, match=rf"^{file}\.yaml:1|^{file}\.yaml: |^{file}\.yaml:2"):
        read(file, text)


def test_schema_command() -> None:
    def printed(*arguments: str) -> Any:
        ran = CliRunner().invoke(command, arguments, standalone_mode=False)
        assert ran.exception is None
        return json.loads(ran.output)

    assert printed() == printed("results") == json_schema()
    for file in COURSE_FILES:
        assert printed(file) == json.loads(json.dumps(schema_of(file)))
