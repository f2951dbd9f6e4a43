"""The first page: every question with its progress, disagreements and regrade requests."""

from collections import Counter
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from viva.records.hand_grading import Changed
from viva.review import rubric_change, time_estimate
from viva.review.web.request_context import Asked, Visit

router = APIRouter()
AT_ONCE_S = 0.1
"""How long the first page waits for the class; after that it shows how many submissions were read."""


@router.get("/")
def overview(request: Request) -> Response:
    """Show every question; while the class is being read, show the progress of that."""
    asked = Visit.of(request)
    desk = asked.desk
    reading = not desk.ready.wait(AT_ONCE_S)  # read once: it may change while the page is made
    if reading or desk.fault is not None:
        return asked.show("overview.html.j2", reading=reading)
    desk.refresh()
    appealed = desk.journal.appealed()
    waiting = Counter(key[1] for key, waits in appealed.items() if waits)
    differing = Counter(key[1] for key in desk.journal.differing())
    return asked.show(
        "overview.html.j2",
        reading=False,
        rows=[_row(asked, number, waiting[number], differing[number]) for number in desk.answers],
        waiting=sum(waiting.values()),
        changed=rubric_change.found(desk, asked.marker),
    )


@router.post("/rubric")
def follow_rubric(asked: Asked) -> Response:
    """Apply the present rubric to grades given under an earlier one."""
    try:
        rubric_change.follow(asked.desk, asked.marker)
    except Changed as error:
        return asked.show("message.html.j2", 409, heading="No mark has followed", sentence=str(error))
    return asked.go("/")


def _row(asked: Visit, number: str, appeals: int, differing: int) -> dict[str, Any]:
    marker = asked.marker
    progress = asked.desk.progress(number, marker.round)
    times = asked.desk.journal.times(number, marker.name, marker.round)
    return {
        "number": number,
        "title": progress.question.title,
        "points": progress.question.points,
        "done": progress.done,
        "of": progress.of,
        "left": progress.left,
        "time": time_estimate.time_left(progress.left, time_estimate.pace(times)),
        "appeals": appeals,
        "differing": differing,
    }
