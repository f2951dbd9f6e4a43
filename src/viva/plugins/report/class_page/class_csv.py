"""`report.csv`: a row for each submission and a column for each question, for spreadsheets."""

import csv
import io
from collections.abc import Sequence
from fractions import Fraction

from viva.formats import escaping
from viva.formats.decimal_points import show
from viva.model.attempt import ScoredAttempt
from viva.plugins.report.class_page.questions import Question, questions

_HEAD = (
    "submission",
    "students",
    "submitted",
    "attempt",
    "late",
    "total",
    "points",
    "still open",
    "tier",
    "seconds",
    "file that counts",
)


def table(marked: Sequence[ScoredAttempt]) -> bytes:
    """Return the table; points that are not graded yet are left out, and a cell without graded points is empty."""
    asked = questions(marked)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_HEAD, *(escaping.csv_cell(escaping.line(q.key)) for q in asked)])
    writer.writerows(_row(graded, asked) for graded in marked)
    return text.getvalue().encode("utf-8", "replace")


def _row(graded: ScoredAttempt, asked: Sequence[Question]) -> list[str]:
    attempt, score = graded.attempt, graded.score
    decided = {e.test_id: e.earned for e in score.entries if not e.status.is_open}
    students = ", ".join(student.name or student.id for student in attempt.students)
    return [
        escaping.csv_cell(escaping.line(attempt.name)),
        escaping.csv_cell(escaping.line(students)),
        attempt.submitted_at.isoformat() if attempt.submitted_at else "",
        str(attempt.number),
        {None: "", True: "yes", False: "no"}[attempt.late],
        show(score.earned),
        show(score.points),
        show(score.still_open),
        escaping.csv_cell(escaping.line(score.isolation.tier)),
        f"{score.wall_s:.3f}",
        escaping.csv_cell(escaping.line(score.choice)),
        *(_points([decided[t] for t in question.tests if t in decided]) for question in asked),
    ]


def _points(earned: Sequence[Fraction]) -> str:
    return show(sum(earned, Fraction(0))) if earned else ""
