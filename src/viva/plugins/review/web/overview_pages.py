"""The first page, with every question and its progress, and the page of the table of grades."""

from collections import Counter
from typing import Final

from starlette.responses import Response

from viva.model.errors import UsageError
from viva.plugins.records.hand_grading import Changed
from viva.plugins.review import rubric_change
from viva.plugins.review.grades_csv import export_csv, import_csv
from viva.plugins.review.time_estimate import seconds_per_answer, time_left
from viva.plugins.review.web.requests import RequestContext, get, post

AT_ONCE_S: Final = 0.1
"""How long the first page waits for the class; after that it shows how many submissions were read."""


def overview(context: RequestContext) -> Response:
    """Show every question; while the class is being read, show the progress of that."""
    queue = context.queue
    reading = not queue.ready.wait(AT_ONCE_S)  # read once: it may change while the page is made
    if reading or queue.fault is not None:
        return context.show("overview.html.j2", reading=reading)
    queue.refresh()
    appealed = queue.decisions.appealed()
    waiting = Counter(key[1] for key, waits in appealed.items() if waits)
    differing = Counter(key[1] for key in queue.decisions.differing())
    return context.show(
        "overview.html.j2",
        reading=False,
        rows=[_row(context, number, waiting[number], differing[number]) for number in queue.answers],
        waiting=sum(waiting.values()),
        changed=rubric_change.find(queue, context.marker),
    )


def follow_rubric(context: RequestContext) -> Response:
    """Apply the present rubric to grades given under an earlier one."""
    try:
        rubric_change.apply(context.queue, context.marker)
    except Changed as error:
        return context.show("message.html.j2", 409, heading="No grade was changed", sentence=str(error))
    return context.go("/")


def _row(context: RequestContext, number: str, appeals: int, differing: int) -> dict[str, object]:
    marker = context.marker
    progress = context.queue.progress(number, marker.round)
    times = context.queue.decisions.times(number, marker.name, marker.round)
    return {
        "number": number,
        "title": progress.question.title,
        "points": progress.question.points,
        "done": progress.done,
        "of": progress.of,
        "left": progress.left,
        "time": time_left(progress.left, seconds_per_answer(times)),
        "appeals": appeals,
        "differing": differing,
    }


def show_table(context: RequestContext) -> Response:
    """Show the page for downloading and uploading the table."""
    return context.show("table.html.j2", fault="", taken=None)


def send_table(context: RequestContext) -> Response:
    """Return every answer with its grade in the marker's round."""
    name = f"{context.queue.assignment.name}-marks{'-second' if context.marker.round == 2 else ''}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(export_csv(context.queue, context.marker.round), media_type="text/csv", headers=headers)


def read_table(context: RequestContext) -> Response:
    """Store the grades of a table, all or none."""
    try:
        taken = import_csv(context.queue, context.marker, context.fields.file("file"))
    except UsageError as error:
        return context.show("table.html.j2", 422, fault=str(error), taken=None)
    return context.show("table.html.j2", fault="", taken=taken)


ROUTES: Final = (
    get("/", overview, RequestContext.read),
    post("/rubric", follow_rubric),
    get("/table", show_table),
    get("/marks.csv", send_table),
    post("/marks.csv", read_table),
)
