"""The tables of reference/README.md are true: each of the 90 questions has reference, tests, points and evidence."""

import functools
import importlib
import inspect
import re
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.course_of_texts import best_tier
from viva.config import load_course
from viva.model import Entry, Status
from viva.model.grade_request import GradeOptions, GradeRequest
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.plugins.verify.expected_verdicts import key_submission

ROOT = Path(__file__).parents[2]
README = ROOT / "reference" / "README.md"

# Every question of the five source documents, in their order: the specification that the tables are held against.
QUESTIONS = {
    "transfer_learning": "000-1a 000-1b 000-2 000-3a 000-3b 000-3c 000-4 000-5 "
    "000-T1 000-T2 000-T3 000-T4 000-T5 000-T6 000-T7",
    "translation_and_masks": "001-1.1 001-1.2 001-1.3 001-1.4 001-2.1a 001-2.1b 001-2.1c 001-2.2 001-2.3 001-2.4 "
    "001-2.5 001-3.1 001-3.2 001-3.3 001-3.4 001-4.1 001-4.1b 001-4.2a 001-4.2b 001-4.2c",
    "bert_lora_fudge": "002-1a(i) 002-1a(iii) 002-1f 002-1a(ii) 002-1b 002-1c 002-1d 002-1e(i) 002-1e(ii) 002-1e(iii) "
    "002-2a 002-2b 002-2c 002-2d(i) 002-2d(ii) 002-2d(iii) 002-2e 002-3a 002-3b 002-3c 002-3d 002-3e 002-3f",
    "adapting_transformers": "003-1.1 003-1.2 003-1.3 003-1.4 003-1.5 003-1.6 003-2.1.1 003-2.1.2 003-2.2.1 003-2.2.2 "
    "003-2.2.3 003-2.3 003-3.1.1 003-3.1.2 003-3.1.3 003-3.1.4 003-3.2.1 003-3.2.2 003-3.2.3 003-3.2.2n 003-3.2.3n "
    "003-3.2.5",
    "attention_theory": "004-a 004-b 004-c(i) 004-c(ii) 004-d 004-e 004-f 004-g 004-h 004-i",
}  # fmt: skip
HALVES = {"½": Fraction(1, 2), "¼": Fraction(1, 4), "¾": Fraction(3, 4), "⅓": Fraction(1, 3), "⅔": Fraction(2, 3)}
_TEST = re.compile(r"(?:\b([VHP]) )?`(test_\w+)`(?: (\d*[½¼¾⅓⅔]|\d+(?:/\d+)?))?")


@dataclass(frozen=True)
class Row:
    """One line of a table."""

    name: str
    question: str
    references: tuple[str, ...]
    tests: tuple[tuple[str, str, Fraction], ...]
    """Kind (V visible, H hidden, P graded by a person), name and points of the tests that stand with their points."""
    mentioned: tuple[str, ...]
    """Tests that another row counts."""
    points: Fraction
    evidence: str


def points(text: str) -> Fraction:
    """`3`, `½`, `2½` or `1/3`."""
    whole, half = (text[:-1], HALVES[text[-1]]) if text[-1:] in HALVES else (text, Fraction(0))
    return Fraction(whole or 0) + half


@functools.cache
def rows(assignment: str) -> tuple[Row, ...]:
    """The table in the assignment's section."""
    _, _, rest = README.read_text("utf-8").partition(f"\n## {assignment} (")
    section = rest.partition("\n## ")[0]
    found = []
    for line in section.splitlines():
        if not re.match(r"\| *00\d-", line):
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        assert len(cells) == 6, f"{line}: expected six columns"
        name, question, reference, tests, total, evidence = cells
        matches = _TEST.findall(tests)
        found.append(
            Row(
                name,
                question,
                tuple(re.findall(r"`(\w+)", reference)),
                tuple((kind, test, points(p)) for kind, test, p in matches if p),
                tuple(test for _, test, p in matches if not p),
                points(total),
                evidence,
            )
        )
    return tuple(found)


@functools.cache
def entries(assignment: str) -> dict[str, Entry]:
    """The assignment's tests, by their names, with what the answer key gets: which ones a person grades."""
    course = load_course(ROOT)
    one = course.assignment(assignment)
    with ExaminerProcess(course, one, b"a secret", BoxOptions(best_tier())) as examiner:
        graded = examiner.grade(GradeRequest(key_submission(course, one), GradeOptions(training=False)))
    names = [entry.test_id.split("::")[-1] for entry in graded.score.entries]
    assert len(names) == len(set(names)), "two tests of an assignment have the same name"
    return dict(zip(names, graded.score.entries, strict=True))


@functools.cache
def modules() -> dict[str, ModuleType]:
    """The modules of reference/ by their paths, as the first table names them."""
    folder = ROOT / "reference"
    paths = [p.relative_to(folder) for p in sorted(folder.rglob("*.py")) if p.name != "__init__.py"]
    return {p.as_posix(): importlib.import_module(".".join(["reference", *p.with_suffix("").parts])) for p in paths}


def test_every_assignment_has_questions() -> None:
    assert set(QUESTIONS) == set(load_course(ROOT).assignments)


@pytest.mark.parametrize("assignment", QUESTIONS)
def test_questions_are_rows(assignment: str) -> None:
    names = [row.name for row in rows(assignment)]
    assert Counter(names) == Counter(QUESTIONS[assignment].split())
    assert all(row.question and row.evidence.strip("–- ") for row in rows(assignment))


@pytest.mark.parametrize("assignment", QUESTIONS)
def test_references_exist(assignment: str) -> None:
    defined = {
        name
        for module in modules().values()
        for name, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__
        and (inspect.isroutine(value) or inspect.isclass(value))
    }
    unknown = {(row.name, name) for row in rows(assignment) for name in row.references if name not in defined}
    assert not unknown


def test_files_are_listed() -> None:
    table = README.read_text("utf-8").partition("\n## ")[0]
    listed = re.findall(r"`(\w+/\w+\.py)`", "\n".join(line.split("|")[1] for line in table.splitlines() if "|" in line))
    assert Counter(listed) == Counter(list(modules()))


@pytest.mark.nightly
@pytest.mark.parametrize("assignment", QUESTIONS)
def test_tests_and_points(assignment: str) -> None:
    found = entries(assignment)
    kinds = {
        name: "P" if e.status is Status.NEEDS_REVIEW else "V" if e.visibility == "visible" else "H"
        for name, e in found.items()
    }
    stated = [test for row in rows(assignment) for test in row.tests]
    wanted = {(kinds[name], name, entry.points) for name, entry in found.items()}
    assert set(stated) ^ wanted == set(), "left: in one of table and graders only"
    assert len(stated) == len(wanted), "a test is counted in two rows"
    assert {name for row in rows(assignment) for name in row.mentioned} <= set(found)


@pytest.mark.nightly
@pytest.mark.parametrize("assignment", QUESTIONS)
def test_total_points(assignment: str) -> None:
    for row in rows(assignment):
        assert row.points == sum(p for _, _, p in row.tests), row.name
    total = sum((entry.points for entry in entries(assignment).values()), Fraction(0))
    assert sum(row.points for row in rows(assignment)) == total == load_course(ROOT).assignment(assignment).points
    rubric = load_course(ROOT).assignment(assignment).rubric()
    open_points = {e.rubric: e.points for e in entries(assignment).values() if e.status is Status.NEEDS_REVIEW}
    assert {q.number: q.points for q in rubric.questions} == open_points
