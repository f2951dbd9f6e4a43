"""The rubrics of the five assignments are whole: every question in words has one, with all that a marker needs."""

import ast
import re
from collections import Counter
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
import yaml

from tests.support.table_rows import Rows
from viva.config import load_course
from viva.config.rubric import Question, earned

ROOT = Path(__file__).parents[2]

# The questions of the source documents that are answered in words, and the rubric question that marks each.
PROSE = {
    "transfer_learning": {
        "000-1a": "1", "000-1b": "1", "000-2": "2", "000-4": "4", "000-5": "5",
    },
    "translation_and_masks": {
        "001-1.2": "1.2", "001-2.1a": "2.1", "001-2.1b": "2.1", "001-2.1c": "2.1", "001-2.2": "2.2", "001-2.3": "2.3",
        "001-2.4": "2.4", "001-2.5": "2.5", "001-3.1": "3.1", "001-3.2": "3.2", "001-4.1": "4.1",
        "001-4.2a": "4.2", "001-4.2b": "4.2",
    },
    "bert_lora_fudge": {
        "002-1a(i)": "1a.i", "002-1a(ii)": "1a.ii", "002-1a(iii)": "1a.iii", "002-1b": "1b", "002-1c": "1c",
        "002-1d": "1d", "002-1e(iii)": "1e.iii", "002-1f": "1f", "002-2a": "2a", "002-2d(i)": "2d.i", "002-2e": "2e",
        "002-3b": "3b", "002-3c": "3c", "002-3d": "3d", "002-3e": "3e",
    },
    "adapting_transformers": {
        "003-2.1.2": "2.1.2", "003-2.2.1": "2.2.1", "003-2.2.2": "2.2.2", "003-2.2.3": "2.2.3", "003-3.1.2": "3.1.2",
        "003-3.1.3": "3.1.3", "003-3.1.4": "3.1.4", "003-3.2.1": "3.2", "003-3.2.2": "3.2", "003-3.2.3": "3.2",
    },
    "attention_theory": {"004-a": "1a", "004-b": "1b", "004-d": "1d", "004-h": "1h"},
}  # fmt: skip
IN_WORDS = re.compile(r"\*In\s+words\*\s+\(`([^`]+)`\)")


@cache
def questions(assignment: str) -> tuple[Question, ...]:
    return load_course(ROOT).assignment(assignment).rubric().questions


EVERY = [(name, question) for name in PROSE for question in questions(name)]


@cache
def functions(assignment: str) -> dict[str, tuple[str, str | None]]:
    """Of each test of the graders, by its id: its question, and the rubric question that marks it if a person does."""
    found = {}
    for path in sorted((ROOT / "graders" / assignment).glob("test_*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                source = ast.unparse(node)
                number = re.search(r"@number\('([^']+)'\)", source)
                rubric = re.search(r"needs_review\(.*rubric='([^']+)'", source)
                assert number, f"{path.name}: {node.name} has no number"
                found[f"{path.name}::{node.name}"] = (number[1], rubric[1] if rubric else None)
    return found


@pytest.mark.parametrize("assignment", PROSE)
def test_questions_in_words_have_a_rubric(assignment: str) -> None:
    numbers = [question.number for question in questions(assignment)]
    handout = (ROOT / "assignments" / assignment / "handout.md").read_text("utf-8")
    sheet = yaml.safe_load((ROOT / "assignments" / assignment / "starter" / "answers.yaml").read_text("utf-8"))
    assert len(numbers) == len(set(numbers))
    assert Counter(r for _, r in functions(assignment).values() if r) == Counter(numbers)
    assert set(IN_WORDS.findall(handout)) == set(numbers)
    assert list(sheet["written"]) == numbers
    assert list(dict.fromkeys(PROSE[assignment].values())) == numbers


def test_rubric_questions_are_complete() -> None:
    with Rows() as row:
        for assignment, question in EVERY:
            with row(assignment, question.number):
                assert 60 <= len(question.model.split()) <= 200
                assert 2 <= len(question.items) <= 6 and 2 <= len(question.misconceptions) <= 5
                assert question.references
                assert all(len(item.text.split()) <= 40 for item in question.items), "an item is decided in seconds"
                assert all(10 <= len(m.comment.split()) <= 60 for m in question.misconceptions)
                assert len({m.comment for m in question.misconceptions}) == len(question.misconceptions)


def test_rubric_points_reach_the_bounds() -> None:
    with Rows() as row:
        for assignment, question in EVERY:
            with row(assignment, question.number):
                won: list[str] = []
                for group, items in question.grouped(item for item in question.items if item.points > 0):
                    best = max(items, key=lambda item: item.points)
                    won += [best.id] if group.exclusive else [item.id for item in items]
                assert earned(question, won) == question.points > 0 == earned(question, [])
                assert all(
                    Fraction(0) <= earned(question, [item.id]) < question.points or len(won) == 1
                    for item in question.items
                )


def test_evidence_names_tests() -> None:
    with Rows() as row:
        for assignment, question in EVERY:
            with row(assignment, question.number):
                there = functions(assignment)
                assert [name for name in question.evidence if name not in there] == []
                assert [name for name in question.evidence if there[name][1] is not None] == []
                of_the_question = [
                    name for name, (number, rubric) in there.items() if number == question.number and not rubric
                ]
                assert bool(question.evidence) >= bool(of_the_question), (
                    "a test of the same question is shown beside the prose"
                )


@pytest.mark.parametrize("assignment", PROSE)
def test_errata_references(assignment: str) -> None:
    """`errata.md, 2.1.2` names a row or a section of that file."""
    text = (ROOT / "assignments" / assignment / "rubric.yaml").read_text("utf-8")
    errata = (ROOT / "assignments" / assignment / "errata.md").read_text("utf-8")
    known = {name.strip(" ()") for row in re.findall(r"^\| ([^|]+) \|", errata, re.M) for name in row.split(",")}
    named = [n.strip() for found in re.findall(r"errata\.md,\s+([^)]+)\)", text) for n in re.split(r"and|,", found)]
    assert named and [name for name in named if name not in known] == []
