"""The pages on which answers are graded, one after the other."""

import re
import uuid
from typing import Annotated, Final

from fastapi import APIRouter, Form
from fastapi.responses import Response

from viva.model.errors import UsageError
from viva.model.hand_grading import SETTLED, Judgement
from viva.records.hand_grading import Changed
from viva.review import time_estimate
from viva.review.decision_log import key_of
from viva.review.rubric_points import adjustment
from viva.review.web import page_values
from viva.review.web.request_context import Asked, Visit, address_of, decision_on
from viva.review.written_answers import Answer

router = APIRouter()
_ON_A_PAGE: Final = 200
UNDONE: Final = "What you did last was taken back."
_CHOSEN: Final = re.compile("([0-9a-f]+) ([0-9]{1,18})")
"""The content hash of an answer in a group, and the id of the row that the marker has seen for it."""
Text = Annotated[str, Form()]
Texts = Annotated[list[str], Form(default_factory=list)]


@router.get("/q/{number}")
def next_answer(asked: Asked, number: str) -> Response:
    """Go to the next answer that is not graded."""
    asked.question(number)
    return _on(asked, number)


@router.get("/q/{number}/all")
def all_answers(asked: Asked, number: str, page: int = 1, done: str = "") -> Response:
    """Show every answer to a question, in the order in which they are graded."""
    question = asked.question(number)
    answers = asked.desk.answers[number]
    pages = max(1, -(-len(answers) // _ON_A_PAGE))
    page = min(max(page, 1), pages)
    part = answers[(page - 1) * _ON_A_PAGE : page * _ON_A_PAGE]
    return asked.show(
        "list.html.j2",
        question=question,
        progress=asked.desk.progress(number, asked.marker.round),
        answers=[_listed(asked, answer) for answer in part],
        pages=pages,
        at=page,
        note="Every answer to this question that is yours to mark is marked." if done else "",
    )


@router.get("/q/{number}/{content_hash}")
def one_answer(asked: Asked, number: str, content_hash: str, note: str = "") -> Response:
    """Show the page of an answer."""
    answer = asked.answer(number, content_hash)
    asked.desk.turns.open(asked.marker, answer)
    return _answer_page(asked, answer, UNDONE if note == "undone" else "")


@router.post("/q/{number}/{content_hash}")
def mark(  # noqa: PLR0913  # FastAPI fills each parameter from a form field
    asked: Asked,
    number: str,
    content_hash: str,
    items: Texts,
    adjust: Text = "",
    comment: Text = "",
    done: Text = "",
    then: Text = "",
    finish: Annotated[str | None, Form()] = None,
    seen: Annotated[int, Form()] = 0,
    action: Text = "",
) -> Response:
    """Store a marker's judgement; `finish` comes from the buttons, `done` and `then` from the script."""
    answer = asked.answer(number, content_hash)
    finished = done == "yes" if finish is None else finish == "yes"
    try:
        asked.desk.turns.check_may_mark(asked.marker, [answer])
        judgement = asked.desk.judged(answer, items, adjustment(adjust), unix(comment), done=finished)
    except UsageError as error:
        return _not_kept(asked, answer, str(error), 422, seen)
    try:
        (row,) = asked.desk.mark(asked.marker, [(answer, judgement)], action=action[:64], seen={content_hash: seen})
    except Changed as error:
        asked.desk.refresh()
        return _not_kept(asked, answer, _told(error) if asked.by_htmx else str(error), 409, seen)
    if then == "next" or finish == "yes":
        return _on(asked, number, answer)
    if not asked.by_htmx:
        return asked.go(address_of(answer))
    return _saved(asked, answer, row.judgement, row.id)


@router.get("/q/{number}/{content_hash}/name")
def name(asked: Asked, number: str, content_hash: str) -> Response:
    """Show the names of the students."""
    return asked.show("part.html.j2", kind="name", names=page_values.names(asked.answer(number, content_hash)))


@router.get("/q/{number}/{content_hash}/similar")
def similar(asked: Asked, number: str, content_hash: str) -> Response:
    """Show the number of similar answers."""
    answer = asked.answer(number, content_hash)
    return asked.show("part.html.j2", kind="similar", here=address_of(answer), count=len(_similar(asked, answer)))


@router.get("/q/{number}/{content_hash}/notebook")
def notebook(asked: Asked, number: str, content_hash: str, whole: str = "") -> Response:
    """Show the notebook cells around the answer."""
    answer = asked.answer(number, content_hash)
    cells = page_values.notebook(asked.desk, answer, whole=bool(whole))
    return asked.show("part.html.j2", kind="notebook", here=address_of(answer), **cells)


@router.get("/q/{number}/{content_hash}/history")
def history(asked: Asked, number: str, content_hash: str) -> Response:
    """Show the decisions about the answer so far."""
    answer = asked.answer(number, content_hash)
    rows = asked.desk.journal.history(answer.key)
    return asked.show("history.html.j2", history=page_values.told_to(asked.desk, asked.marker, answer, rows))


@router.post("/undo")
def undo(asked: Asked) -> Response:
    """Undo the marker's last action, and show its answer."""
    try:
        rows = asked.desk.undo(asked.marker)
    except Changed as error:
        return asked.show("message.html.j2", 409, heading="It was not taken back", sentence=str(error))
    found = [(row.place.kind, asked.desk.answer(key_of(row.place))) for row in rows]
    there = next(((kind, answer) for kind, answer in found if answer is not None), None)
    if not rows:
        sentence = "You have done nothing here that could be taken back."
        return asked.show("message.html.j2", heading="Nothing to take back", sentence=sentence)
    if there is None:
        sentence = "What you did last was taken back; its answer is not in the class any more."
        return asked.show("message.html.j2", heading="Taken back", sentence=sentence)
    kind, answer = there
    return asked.go(f"{decision_on(answer) if kind == SETTLED else address_of(answer)}?note=undone")


@router.get("/q/{number}/{content_hash}/group")
def group(asked: Asked, number: str, content_hash: str) -> Response:
    """Show the similar answers, for grading them together."""
    return _group_page(asked, asked.answer(number, content_hash))


@router.post("/q/{number}/{content_hash}/group")
def mark_group(
    asked: Asked,
    number: str,
    content_hash: str,
    chosen: Texts,
    action: Text = "",
) -> Response:
    """Give the chosen similar answers the grade of this one."""
    answer = asked.answer(number, content_hash)
    state, _ = page_values.state_of(asked.desk, asked.marker, answer)
    if not state.done:
        return _group_page(asked, answer)
    seen = {told[1]: int(told[2]) for each in chosen if (told := _CHOSEN.fullmatch(each))}
    same = [each for each in _similar(asked, answer) if each.content_hash in seen]
    try:
        said = [(each, asked.desk.judged(each, state.items, state.adjust, state.comment, done=True)) for each in same]
        asked.desk.mark(asked.marker, said, action=action[:64], seen=seen)
    except UsageError as error:
        return asked.show("message.html.j2", 409, heading="No mark was given", sentence=str(error))
    return _on(asked, number, answer)


def unix(text: str) -> str:
    """Convert the line breaks of a form, CR LF, to LF, and remove those at both ends."""
    return text.replace("\r\n", "\n").strip("\n")


def _on(asked: Visit, number: str, after: Answer | None = None) -> Response:
    """Go to the next answer that is not graded, or to the list of all answers if none is left."""
    found = asked.desk.next_for(asked.marker, number, after)
    return asked.go(address_of(found) if found else f"/q/{number}/all?done=yes")


def _answer_page(asked: Visit, answer: Answer, note: str) -> Response:
    desk, marker = asked.desk, asked.marker
    question = asked.question(answer.question)
    state, seen = page_values.state_of(desk, marker, answer)
    before, after = desk.beside(answer, -1), desk.beside(answer, 1)
    progress = desk.progress(answer.question, marker.round)
    times = desk.journal.times(answer.question, marker.name, marker.round)
    return asked.show(
        "answer.html.j2",
        question=question,
        answer=answer,
        here=address_of(answer),
        shown=page_values.shown(answer),
        place=desk.position(answer),
        progress=progress,
        time=time_estimate.time_left(progress.left, time_estimate.pace(times)),
        previous=address_of(before) if before else "",
        following=address_of(after) if after else "",
        evidence=page_values.beside(desk, question, answer),
        phrases=page_values.ready_comments(desk, marker, question),
        state=state,
        seen=seen,
        action=uuid.uuid4().hex,
        store=f"{desk.assignment.name} {marker.round} {answer.question} {answer.content_hash}",
        note=note,
    )


def _saved(
    asked: Visit, answer: Answer, said: Judgement, seen: int, message: str = "", status: int = 200, theirs: int = 0
) -> Response:
    return asked.show(
        "saved.html.j2",
        status,
        state=said,
        seen=seen,
        theirs=theirs,
        here=address_of(answer),
        action=uuid.uuid4().hex,
        message=message,
    )


def _told(error: Changed) -> str:
    """Return the conflict message for a page that still has the marker's input, where either version can be chosen."""
    who = " and ".join(dict.fromkeys(row.by for row in error.rows)) or "somebody else"
    return (
        f"The mark of this answer was changed by {who} since you opened it. What you chose and wrote is still here: "
        "which of the two counts?"
    )


def _not_kept(asked: Visit, answer: Answer, sentence: str, status: int, seen: int) -> Response:
    """Show the stored state; `seen` stays the same, so that the marker first chooses one of the two versions."""
    if not asked.by_htmx:
        return asked.show("message.html.j2", status, heading="The mark was not kept", sentence=sentence)
    state, latest = page_values.state_of(asked.desk, asked.marker, answer)
    return _saved(asked, answer, state, seen, sentence, status, theirs=latest if status == 409 else 0)


def _similar(asked: Visit, answer: Answer) -> list[Answer]:
    return [each for each in asked.desk.similar(answer) if asked.desk.turns.may_mark(asked.marker, each)]


def _group_page(asked: Visit, answer: Answer) -> Response:
    desk, marker = asked.desk, asked.marker
    state, _ = page_values.state_of(desk, marker, answer)
    if not state.done:
        sentence = "Mark this answer first: the others then get the same mark."
        return asked.show("message.html.j2", heading="This answer is not marked yet", sentence=sentence)
    others = []
    for other in _similar(asked, answer):
        said, seen = page_values.state_of(desk, marker, other)
        others.append(
            {
                "hash": other.content_hash,
                "seen": seen,
                "state": said,
                "place": desk.position(other),
                "shown": page_values.shown(other),
            }
        )
    return asked.show(
        "group.html.j2",
        question=asked.question(answer.question),
        here=address_of(answer),
        shown=page_values.shown(answer),
        state=state,
        others=others,
        action=uuid.uuid4().hex,
    )


def _listed(asked: Visit, answer: Answer) -> dict[str, object]:
    state, seen = page_values.state_of(asked.desk, asked.marker, answer)
    return {
        "here": address_of(answer),
        "place": asked.desk.position(answer),
        "beginning": page_values.beginning(answer),
        "earned": state.earned if seen and (state.done or state.items) else None,
        "draft": not state.done,
    }
