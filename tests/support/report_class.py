"""Classes that are made up: submissions with scores, for tests of what is reported on them."""

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

from viva.config import Assignment, load_course
from viva.model import Attempt, Case, Entry, Isolation, Score, ScoredAttempt, Status, Student
from viva.model.score import Curve
from viva.submissions.notebook_cells import EXECUTED_FILE

CONTENT_HASH = "0" * 64
"""Of every submission here."""
ROOT = Path(__file__).parents[2]


def assignment() -> Assignment:
    """One of this course."""
    return load_course(ROOT).assignment("translation_and_masks")


def entry(
    number: str,
    status: Status = Status.PASSED,
    *,
    earned: float | None = None,
    points: int = 2,
    message: str = "",
    staff: str = "",
    test: str = "",
    **rest: Any,
) -> Entry:
    """Return the entry of a test with one case."""
    won = Fraction(earned) if earned is not None else Fraction(points if status is Status.PASSED else 0)
    label = rest.pop("label", "")
    case = Case(label, status, won, Fraction(points), message, staff, 0.01)
    named = {"name": f"Question {number} is answered.", "visibility": "visible", **rest}
    return Entry(
        test_id=test or f"test_{number}.py::test", number=number, status=status, earned=won, points=Fraction(points),
        cases=(case,), **named,
    )  # fmt: skip


def marked(
    name: str, *entries: Entry, students: tuple[str, ...] = (), attempt: int = 1, **of_score: Any
) -> ScoredAttempt:
    """Return a submission with its score."""
    score = Score(
        submission=name, content_hash=CONTENT_HASH, assignment="translation_and_masks", version=1, entries=entries,
        **{"isolation": Isolation("T3"), "wall_s": 0.3, **of_score},
    )  # fmt: skip
    return ScoredAttempt(Attempt(name, Path(name), tuple(map(Student, students)), number=attempt), score)


def shares(rows: list[list[float]]) -> list[ScoredAttempt]:
    """Return a class from a table: a row for each response, a column for each question, worth two points each."""
    return [
        marked(
            f"s{i:04}",
            *(
                entry(f"1.{j}", Status.PASSED if share == 1 else Status.PARTIAL, earned=2 * share)
                for j, share in enumerate(row, 1)
            ),
        )
        for i, row in enumerate(rows)
    ]


def write_executed(folder: Path, data: bytes, content_hash: object = CONTENT_HASH) -> None:
    """Write a notebook as if the course had executed it, next to the result of the submission with that hash."""
    written = json.loads(data)
    written["metadata"]["viva"] = {"content_hash": content_hash}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / EXECUTED_FILE).write_text(json.dumps(written), "utf-8")


def large_class(size: int, tests: int = 40, seed: int = 0) -> list[ScoredAttempt]:
    """Return a class with every kind of result."""
    draw = random.Random(seed)
    return [_somebody(i, tests, draw) for i in range(size)]


def _somebody(i: int, tests: int, draw: random.Random) -> ScoredAttempt:
    ability = draw.gauss(0, 1)
    entries = []
    for j in range(tests):
        number = f"{1 + j // 8}.{1 + j % 8 // 2}"
        test = f"test_{j}.py::test_{j}"
        hidden = j % 5 == 4
        kind: dict[str, Any] = {
            "test": test,
            "visibility": "hidden" if hidden else "visible",
            "name": f"Test {j} of the class.",
        }
        if j == tests - 1:
            entries.append(entry(number, Status.NEEDS_REVIEW, message="Not graded yet.", **kind))
        elif j == tests - 2 and i % 97 == 0:
            entries.append(entry(number, Status.GRADER_ERROR, message="Ours.", staff="OSError: full", **kind))
        elif ability + draw.gauss(0, 1) > (j % 7 - 4) / 2:
            entries.append(entry(number, **kind))
        else:
            said = f"f({i}) is {draw.random():.3f}; expected {j}. It equals a known mistake: mistake {i % 3}."
            shown = "This test is hidden: what it asks and what went wrong is not shown." if hidden else said
            wrong = draw.choice([Status.FAILED, Status.FAILED, Status.ERROR, Status.TIMEOUT])
            entries.append(entry(number, wrong, message=shown, staff=said if hidden else "", **kind))
    values = tuple(min(1.0, 0.3 + 0.1 * epoch + 0.05 * ability) for epoch in range(6))
    return marked(
        f"class/s{i:04}", *entries, students=(f"u{i}",),
        environment=("transformers 5.23.0 lacks encode_plus",) if i % 8 == 0 else (),
        curves=(Curve("test_0.py::test_0", "accuracy", values, ((6, 0.7),)),), wall_s=0.2 + draw.random(),
    )  # fmt: skip
