"""`report.html`: the results of a class for staff, in one file."""

from collections.abc import Sequence
from statistics import median

from viva.config import Assignment
from viva.model import Status
from viva.model.attempt import ScoredAttempt, Student
from viva.plugins.report.class_page import charts, clusters, facts, overview
from viva.plugins.report.class_page.questions import analyse, responses
from viva.plugins.report.class_page.statistics import summary
from viva.plugins.report.rendering import render

LISTED_ATTEMPTS = 5000


def page(
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
    last = responses(marked)
    totals = facts.totals(last)
    most = facts.most_points(last)
    of_totals = summary(totals)
    bins = facts.histogram(totals, float(most))
    tests = facts.test_counts(last)
    bands = facts.curve_bands(last)
    wrong = clusters.wrong_answers(last)
    results = overview.question_results(last)
    attention = overview.attention(last)
    opened = [t for t in tests if any(s.is_open for s in t.counts)]
    return render(
        "report.html.j2",
        assignment=assignment,
        marked=marked,
        missing=None if missing is None else [student.name or student.id for student in missing],
        last=last,
        most=most,
        totals=of_totals,
        bins=bins,
        columns=charts.columns(bins, of_totals.mean if of_totals else None),
        faults=facts.grader_faults(marked),
        below=facts.below(marked, assignment.min_tier),
        most_faults=facts.MOST_ERRORS,
        analysis=analyse(last),
        hardest=overview.hardest_first(results),
        chart=charts.question_bars(results),
        wrong=wrong,
        frequent=overview.most_frequent(wrong),
        attention=attention[: overview.MOST_LISTED],
        attention_count=len(attention),
        tests=[(row, charts.stacked(row.counts)) for row in tests],
        statuses=[status for status in Status if any(status in row.counts for row in tests)],
        environments=facts.environments(last),
        opened=opened,
        open_median=float(median(graded.score.still_open for graded in last)) if last else 0.0,
        open_attempts=sum(1 for graded in last if graded.score.still_open),
        bands=[(band, charts.lines(band)) for band in bands],
        seconds=facts.seconds(last),
        memory=facts.memory_mib(last),
        slowest=facts.slowest_tests(last),
        isolation=facts.isolation(last),
        versions=sorted({graded.score.version for graded in marked}),
        listed=LISTED_ATTEMPTS,
        feedback=feedback,
        size=(charts.WIDTH, charts.HEIGHT),
    )
