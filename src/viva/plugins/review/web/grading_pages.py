"""The pages on which answers are graded, one after the other."""

import re
import uuid
from typing import Final

from starlette.responses import Response

from viva.model.errors import UsageError
from viva.model.hand_grading import SETTLED, Judgement
from viva.plugins.records.hand_grading import Changed
from viva.plugins.review import time_estimate
from viva.plugins.review.decision_log import key_of
from viva.plugins.review.rubric_points import adjustment
from viva.plugins.review.web import page_values
from viva.plugins.review.web.requests import RequestContext, address_of, decision_on, get, post
from viva.plugins.review.written_answers import Answer

_ANSWERS_PER_PAGE: Final = 200
UNDONE: Final = "What you did last was taken back."
_CHOSEN: Final = re.compile("([0-9a-f]+) ([0-9]{1,18})")
"""The content hash of an answer in a group, and the id of the row that the marker has seen for it."""


def next_answer(context: RequestContext, number: str) -> Response:
    """Go to the next answer that is not graded."""
    context.question(number)
    return _go_to_next(context, number)


def all_answers(context: RequestContext, number: str) -> Response:
    """Show every answer to a question, in the order in which they are graded."""
    question = context.question(number)
    answers = context.queue.answers[number]
    pages = max(1, -(-len(answers) // _ANSWERS_PER_PAGE))
    page = min(max(context.fields.number("page", 1), 1), pages)
    part = answers[(page - 1) * _ANSWERS_PER_PAGE : page * _ANSWERS_PER_PAGE]
    return context.show(
        "list.html.j2",
        question=question,
        progress=context.queue.progress(number, context.marker.round),
        answers=[_listed(context, answer) for answer in part],
        pages=pages,
        at=page,
        note="Every answer to this question that is yours to grade is graded." if context.fields.text("done") else "",
    )


def one_answer(context: RequestContext, number: str, content_hash: str) -> Response:
    """Show the page of an answer."""
    answer = context.answer(number, content_hash)
    context.queue.leases.open(context.marker, answer)
    return _answer_page(context, answer, UNDONE if context.fields.text("note") == "undone" else "")


def mark(context: RequestContext, number: str, content_hash: str) -> Response:
    """Store a marker's judgement; `finish` comes from the buttons, `done` and `then` from the script."""
    answer, fields = context.answer(number, content_hash), context.fields
    items, adjust, comment = fields.texts("items"), fields.text("adjust"), unix(fields.text("comment"))
    finish, then = fields.text("finish"), fields.text("then")
    seen, action = fields.number("seen", 0), fields.text("action")
    try:
        context.queue.leases.check_may_mark(context.marker, [answer])
        judgement = context.queue.judge(
            answer, items, adjustment(adjust), comment, done=(finish or fields.text("done")) == "yes"
        )
    except UsageError as error:
        return _not_stored(context, answer, str(error), 422, seen)
    try:
        (row,) = context.queue.mark(
            context.marker, [(answer, judgement)], action=action[:64], seen={content_hash: seen}
        )
    except Changed as error:
        context.queue.refresh()
        return _not_stored(context, answer, _conflict_message(error) if context.by_htmx else str(error), 409, seen)
    if then == "next" or finish == "yes":
        return _go_to_next(context, number, answer)
    if not context.by_htmx:
        return context.go(address_of(answer))
    return _saved(context, answer, row.judgement, row.id)


def name(context: RequestContext, number: str, content_hash: str) -> Response:
    """Show the names of the students."""
    return context.show("part.html.j2", kind="name", names=page_values.names(context.answer(number, content_hash)))


def similar(context: RequestContext, number: str, content_hash: str) -> Response:
    """Show the number of similar answers."""
    answer = context.answer(number, content_hash)
    return context.show("part.html.j2", kind="similar", here=address_of(answer), count=len(_similar(context, answer)))


def notebook(context: RequestContext, number: str, content_hash: str) -> Response:
    """Show the notebook cells around the answer."""
    answer = context.answer(number, content_hash)
    cells = page_values.notebook(context.queue, answer, whole=bool(context.fields.text("whole")))
    return context.show("part.html.j2", kind="notebook", here=address_of(answer), **cells)


def history(context: RequestContext, number: str, content_hash: str) -> Response:
    """Show the decisions about the answer so far."""
    answer = context.answer(number, content_hash)
    rows = context.queue.decisions.history(answer.key)
    return context.show(
        "history.html.j2", history=page_values.visible_history(context.queue, context.marker, answer, rows)
    )


def undo(context: RequestContext) -> Response:
    """Undo the marker's last action, and show its answer."""
    try:
        rows = context.queue.undo(context.marker)
    except Changed as error:
        return context.show("message.html.j2", 409, heading="It was not taken back", sentence=str(error))
    found = [(row.place.kind, context.queue.answer(key_of(row.place))) for row in rows]
    shown = next(((kind, answer) for kind, answer in found if answer is not None), None)
    if not rows:
        sentence = "You have done nothing here that could be taken back."
        return context.show("message.html.j2", heading="Nothing to take back", sentence=sentence)
    if shown is None:
        sentence = "What you did last was taken back; its answer is not in the class any more."
        return context.show("message.html.j2", heading="Taken back", sentence=sentence)
    kind, answer = shown
    return context.go(f"{decision_on(answer) if kind == SETTLED else address_of(answer)}?note=undone")


def group(context: RequestContext, number: str, content_hash: str) -> Response:
    """Show the similar answers, for grading them together."""
    return _group_page(context, context.answer(number, content_hash))


def mark_group(context: RequestContext, number: str, content_hash: str) -> Response:
    """Give the chosen similar answers the grade of this one."""
    answer = context.answer(number, content_hash)
    chosen, action = context.fields.texts("chosen"), context.fields.text("action")
    state, _ = page_values.state_of(context.queue, context.marker, answer)
    if not state.done:
        return _group_page(context, answer)
    seen = {match[1]: int(match[2]) for value in chosen if (match := _CHOSEN.fullmatch(value))}
    same = [other for other in _similar(context, answer) if other.content_hash in seen]
    try:
        said = [(each, context.queue.judge(each, state.items, state.adjust, state.comment, done=True)) for each in same]
        context.queue.mark(context.marker, said, action=action[:64], seen=seen)
    except UsageError as error:
        return context.show("message.html.j2", 409, heading="No grade was given", sentence=str(error))
    return _go_to_next(context, number, answer)


def unix(text: str) -> str:
    """Convert the line breaks of a form, CR LF, to LF, and remove those at both ends."""
    return text.replace("\r\n", "\n").strip("\n")


def _go_to_next(context: RequestContext, number: str, after: Answer | None = None) -> Response:
    """Go to the next answer that is not graded, or to the list of all answers if none is left."""
    found = context.queue.next_for(context.marker, number, after)
    return context.go(address_of(found) if found else f"/q/{number}/all?done=yes")


def _answer_page(context: RequestContext, answer: Answer, note: str) -> Response:
    queue, marker = context.queue, context.marker
    question = context.question(answer.question)
    state, seen = page_values.state_of(queue, marker, answer)
    before, after = queue.neighbor(answer, -1), queue.neighbor(answer, 1)
    progress = queue.progress(answer.question, marker.round)
    times = queue.decisions.times(answer.question, marker.name, marker.round)
    return context.show(
        "answer.html.j2",
        question=question,
        asked=page_values.question_text(queue, answer.question),
        answer=answer,
        here=address_of(answer),
        shown=page_values.shown(answer),
        place=queue.position(answer),
        progress=progress,
        time=time_estimate.time_left(progress.left, time_estimate.seconds_per_answer(times)),
        previous=address_of(before) if before else "",
        following=address_of(after) if after else "",
        evidence=page_values.evidence_for(queue, question, answer),
        comments=page_values.ready_comments(queue, marker, question),
        state=state,
        seen=seen,
        action=uuid.uuid4().hex,
        store=f"{queue.assignment.name} {marker.round} {answer.question} {answer.content_hash}",
        note=note,
    )


def _saved(
    context: RequestContext,
    answer: Answer,
    said: Judgement,
    seen: int,
    message: str = "",
    status: int = 200,
    theirs: int = 0,
) -> Response:
    return context.show(
        "saved.html.j2",
        status,
        state=said,
        seen=seen,
        theirs=theirs,
        here=address_of(answer),
        action=uuid.uuid4().hex,
        message=message,
    )


def _conflict_message(error: Changed) -> str:
    """Return the conflict message for a page that still has the marker's input, where either version can be chosen."""
    who = " and ".join(dict.fromkeys(row.by for row in error.rows)) or "someone else"
    return (
        f"The grade of this answer was changed by {who} since you opened it. What you chose and wrote is still here: "
        "which of the two counts?"
    )


def _not_stored(context: RequestContext, answer: Answer, sentence: str, status: int, seen: int) -> Response:
    """Show the stored state; `seen` stays the same, so that the marker first chooses one of the two versions."""
    if not context.by_htmx:
        return context.show("message.html.j2", status, heading="The grade was not saved", sentence=sentence)
    state, latest = page_values.state_of(context.queue, context.marker, answer)
    return _saved(context, answer, state, seen, sentence, status, theirs=latest if status == 409 else 0)


def _similar(context: RequestContext, answer: Answer) -> list[Answer]:
    return [other for other in context.queue.similar(answer) if context.queue.leases.may_mark(context.marker, other)]


def _group_page(context: RequestContext, answer: Answer) -> Response:
    queue, marker = context.queue, context.marker
    state, _ = page_values.state_of(queue, marker, answer)
    others = []
    for other in _similar(context, answer):
        said, seen = page_values.state_of(queue, marker, other)
        others.append(
            {
                "hash": other.content_hash,
                "seen": seen,
                "state": said,
                "place": queue.position(other),
                "shown": page_values.shown(other),
            }
        )
    return context.show(
        "group.html.j2",
        question=context.question(answer.question),
        here=address_of(answer),
        shown=page_values.shown(answer),
        state=state,
        others=others,
        action=uuid.uuid4().hex,
    )


def _listed(context: RequestContext, answer: Answer) -> dict[str, object]:
    state, seen = page_values.state_of(context.queue, context.marker, answer)
    return {
        "here": address_of(answer),
        "place": context.queue.position(answer),
        "beginning": page_values.beginning(answer),
        "earned": state.earned if seen and (state.done or state.items) else None,
        "draft": not state.done,
    }


ROUTES: Final = (
    get("/q/{number}", next_answer),
    get("/q/{number}/all", all_answers),
    get("/q/{number}/{content_hash}", one_answer),
    post("/q/{number}/{content_hash}", mark),
    get("/q/{number}/{content_hash}/name", name),
    get("/q/{number}/{content_hash}/similar", similar),
    get("/q/{number}/{content_hash}/notebook", notebook),
    get("/q/{number}/{content_hash}/history", history),
    post("/undo", undo),
    get("/q/{number}/{content_hash}/group", group),
    post("/q/{number}/{content_hash}/group", mark_group),
)
