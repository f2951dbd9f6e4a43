"""The first page: every question with its progress, disagreements and regrade requests."""

from collections import Counter
from typing import Final

from starlette.responses import Response

from viva.plugins.records.hand_grading import Changed
from viva.plugins.review import rubric_change, time_estimate
from viva.plugins.review.web.request_context import RequestContext
from viva.plugins.review.web.routing import get, post

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
        "time": time_estimate.time_left(progress.left, time_estimate.seconds_per_answer(times)),
        "appeals": appeals,
        "differing": differing,
    }


ROUTES: Final = (get("/", overview, RequestContext.of), post("/rubric", follow_rubric))
