"""`report.html`, the results of a class for staff in one file, and `report.csv`, a row for each submission."""

import csv
import io
from collections.abc import Sequence
from fractions import Fraction
from statistics import median
from typing import Final

from viva.config import Assignment
from viva.formats import escaping
from viva.formats.decimal_points import show
from viva.model import Status
from viva.model.attempt import ScoredAttempt, Student
from viva.plugins.report import charts, class_counts
from viva.plugins.report.item_analysis import Question, analyze_items, group_questions, select_responses
from viva.plugins.report.rendering import render

_MAX_MISTAKES: Final = 10
"""The maximum number of wrong answers in the list of the most frequent ones."""
_LIMITS: Final = {"faults": 200, "attention": 30, "attempts": 5000}
"""How many rows the lists of the page have at most."""
_HEAD: Final = (
    "submission", "students", "submitted", "attempt", "late", "total", "points", "still open", "tier", "seconds",
    "file that counts",
)  # fmt: skip


def render_class_page(
    marked: Sequence[ScoredAttempt],
    assignment: Assignment,
    missing: Sequence[Student] | None = None,
    *,
    feedback: bool = False,
) -> bytes:
    """Render the page.

    Args:
        marked: all submissions; if a student has several attempts, the last one counts.
        assignment: the assignment.
        missing: the students on the roster without a submission; None without a roster.
        feedback: whether there are feedback pages, to which the list of submissions links.

    Raises:
        UsageError: jinja2 is not installed.
    """
    last = select_responses(marked)
    most = max((graded.score.points for graded in last), default=Fraction(0))
    earned = [float(graded.score.earned) for graded in last]
    totals = class_counts.summarize(earned)
    bins = charts.count_bins(earned, float(most))
    tests = class_counts.count_outcomes(last)
    wrong = class_counts.collect_wrong_answers(last)
    frequent = [(test, cluster) for test in wrong for cluster in test.clusters if cluster.count > 1]
    hardest = class_counts.rank_questions(last)
    order = [question.key for question in group_questions(last)]
    open_points = [graded.score.still_open for graded in last]
    peaks = [float(gpu.peak_mib) for g in last if (gpu := g.score.gpu) and gpu.peak_mib is not None]
    return render(
        "report.html.j2",
        assignment=assignment,
        marked=marked,
        missing=None if missing is None else [student.name or student.id for student in missing],
        last=last,
        most=most,
        totals=totals,
        bins=bins,
        histogram=charts.lay_out_histogram(bins, totals.mean) if totals else None,
        faults=[(one.attempt.name, e) for one in marked for e in one.score.entries if e.status.is_fault],
        below=[one for one in marked if one.score.isolation.is_below(assignment.min_tier)],
        analysis=analyze_items(last),
        hardest=hardest,
        questions=sorted(hardest, key=lambda result: order.index(result.question.key)),
        wrong=wrong,
        frequent=sorted(frequent, key=lambda pair: -pair[1].count)[:_MAX_MISTAKES],
        attention=class_counts.list_attention(last),
        tests=[(test, charts.lay_out_outcomes(test.counts)) for test in tests],
        statuses=[status for status in Status if any(status in test.counts for test in tests)],
        environments=class_counts.count_environments(last),
        opened=[test for test in tests if any(status.is_open for status in test.counts)],
        open_median=float(median(open_points)) if last else 0.0,
        open_attempts=sum(1 for points in open_points if points),
        bands=[(band, charts.lay_out_curve(band)) for band in class_counts.find_curve_bands(last)],
        seconds=class_counts.summarize([graded.score.wall_s for graded in last]),
        memory=class_counts.summarize(peaks),
        slowest=class_counts.find_slowest(tests),
        isolation=class_counts.count_isolation(last),
        versions=sorted({graded.score.version for graded in marked}),
        limits=_LIMITS,
        feedback=feedback,
        size=(charts.WIDTH, charts.HEIGHT),
    )


def write_class_csv(marked: Sequence[ScoredAttempt]) -> bytes:
    """Return the table; points that are not graded yet are left out, and a cell without graded points is empty."""
    questions = group_questions(marked)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_HEAD, *(_escape(question.key) for question in questions)])
    writer.writerows(_list_cells(graded, questions) for graded in marked)
    return text.getvalue().encode("utf-8", "replace")


def _list_cells(graded: ScoredAttempt, questions: Sequence[Question]) -> list[str]:
    attempt, score = graded.attempt, graded.score
    decided = {entry.test_id: entry.earned for entry in score.entries if not entry.status.is_open}
    row = [
        _escape(attempt.name),
        _escape(", ".join(student.name or student.id for student in attempt.students)),
        attempt.submitted_at.isoformat() if attempt.submitted_at else "",
        str(attempt.number),
        {None: "", True: "yes", False: "no"}[attempt.late],
        show(score.earned),
        show(score.points),
        show(score.still_open),
        _escape(score.isolation.tier),
        f"{score.wall_s:.3f}",
        _escape(score.choice),
    ]
    for question in questions:
        earned = [decided[test] for test in question.tests if test in decided]
        row.append(show(sum(earned, Fraction(0))) if earned else "")
    return row


def _escape(text: str) -> str:
    return escaping.csv_cell(escaping.line(text))
