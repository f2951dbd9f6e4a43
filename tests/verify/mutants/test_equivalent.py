"""The list of equivalent mutants: what matches, what is stale, and what is not a list."""

from pathlib import Path

import pytest

from tests.support.mutated_code import mutants, submission
from viva.config import Assignment, load_course
from viva.model.errors import CourseError
from viva.plugins.verify.mutants.equivalent import read_equivalents

SOURCE = "def f(n):\n    return sum(range(0, n))\n"
ROW = """\
- file: "accepted/*/solution.py"
  function: f
  was: "return sum( range(0,n))"
  becomes: ["return  max(range(0, n))", "return never"]
  reason: none
"""


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    for path, text in {
        "grader.yaml": "course: c\nassignments: [a]\n",
        "assignments/a/assignment.yaml": "title: A\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    return load_course(tmp_path).assignment("a")


def listed(assignment: Assignment, text: str) -> None:
    (assignment.folder / "equivalent_mutants.yaml").write_text(text, "utf-8")


def test_matching_and_stale_rows(assignment: Assignment) -> None:
    assert not read_equivalents(assignment).stale()
    listed(assignment, ROW)
    rows = read_equivalents(assignment)
    made = mutants(submission(solution=SOURCE), "f")
    matched = [m for m in made if m in rows]
    assert [m.becomes for m in matched] == ["return max(range(0, n))"]
    assert [sentence.partition(":")[0] for sentence in rows.stale()] == ["equivalent_mutants.yaml, row 1"]
    assert "makes `return never` of `return sum( range(0,n))`" in rows.stale()[0]


def test_star_matches_every_mutant_of_its_function(assignment: Assignment) -> None:
    made = mutants(submission(solution=SOURCE), "f")
    row = '- {file: "*", function: NAME, was: "*", becomes: "*", reason: any will do, left_open: true}\n'
    listed(assignment, row.replace("NAME", "f"))
    assert all(m in read_equivalents(assignment) for m in made)
    listed(assignment, row.replace("NAME", "g"))
    rows = read_equivalents(assignment)
    assert not [m for m in made if m in rows] and len(rows.stale()) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1", "expected a list of rows {file, function, was, becomes, reason}"),
        ("- {file: a, function: b, was: c, becomes: d}", "0.reason: this key is needed"),
        ("- {file: a, function: b, was: c, becomes: 3, reason: e}", "expected a line of source, or a list of them"),
        ('- {file: a, function: b, was: "*", becomes: "*", reason: e}', "`*` is for what is left open"),
        ("- {file: a, function: b, was: c, becomes: d, reason: e, left_open: 3}", "expected true or false"),
        ("- {fiel: a}", "0.fiel: there is no such key; did you mean `file`?"),
    ],
)
def test_invalid_list(assignment: Assignment, text: str, said: str) -> None:
    listed(assignment, text)
    with pytest.raises(CourseError) as caught:
        read_equivalents(assignment)
    assert said in str(caught.value)
