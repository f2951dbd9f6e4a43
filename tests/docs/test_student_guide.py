"""The student guide and the page about results are true: what they show is read, what they quote is said."""

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from viva.compare.answers import agree_choice, agree_formula, agree_number, agree_table
from viva.config.strict_yaml import read_yaml
from viva.formats.results_json import json_schema, load_results
from viva.submissions.answers_file import read_answers

ROOT = Path(__file__).parents[2]
STUDENT = (ROOT / "docs" / "student-guide.md").read_text("utf-8")
RESULTS = (ROOT / "docs" / "results.md").read_text("utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def rows(text: str, heading: str) -> list[list[str]]:
    """The rows of the table whose first line begins with `heading`."""
    lines = text[text.index(f"| {heading}") :].splitlines()
    end = next(index for index, line in enumerate(lines) if not line.startswith("|"))
    return [[part.strip() for part in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[2:end]]


def code(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


# --- the student guide


def test_answer_sheet() -> None:
    (sheet,) = blocks(STUDENT, "yaml")
    assert yaml.safe_load(sheet).keys() == {"answers", "written"}
    read = read_answers(sheet.encode())
    assert read.problem == "" and str(read.written["2.1"]).startswith("A few sentences.")
    agree_choice(read.answers["1.1"], "B")
    agree_choice(read.answers["1.2"], {"A", "C"})
    agree_number(read.answers["1.3"], Fraction(11, 12))
    agree_formula(read.answers["1.4"], "2*(d + 1)", ["d"])
    agree_table(read.answers["1.5"], [[0, 1, 1], [0, 0, 1], [0, 0, 0]])


@pytest.mark.parametrize("row", rows(STUDENT, "kind |"), ids=lambda row: row[0])
def test_ways_to_write_an_answer(row: list[str]) -> None:
    kind, examples = row[0], code(row[1])
    for example in examples:
        value: Any = read_yaml(f"answer: {example}").value["answer"]
        match kind:
            case "one choice":
                agree_choice(value, "C")
            case "several choices":
                agree_choice(value, {"A", "C"})
            case "true or false":
                agree_choice(value, "true" if example in ("true", "yes") else "false")
            case "a number":
                agree_number(value, 1008100)
            case "a share":
                agree_number(value, 0.8265)
            case "a formula":
                agree_formula(value, "2*(d + 1)", ["d"])
            case _:
                assert kind == "a table of 0 and 1" and not examples
    assert examples or kind == "a table of 0 and 1"


# --- the page about results


def test_example_of_a_result(tmp_path: Path) -> None:
    (example,) = blocks(RESULTS, "json")
    path = tmp_path / "results.json"
    path.write_text(example, "utf-8")
    result = load_results(path)
    jsonschema.Draft202012Validator(json_schema()).validate(yaml.safe_load(example))
    exact = result.extra_data
    for name in ("earned", "points"):
        assert Fraction(getattr(exact, name)) == sum(Fraction(getattr(t.extra_data, name)) for t in result.tests)
    assert exact.still_open == "2" and result.score == 4


def test_python_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "results.json").write_text(blocks(RESULTS, "json")[0], "utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(blocks(RESULTS, "python")[0], names)
    assert names["failed"] == ["test_1_1.py::test_word_counts_of_random_texts"]
