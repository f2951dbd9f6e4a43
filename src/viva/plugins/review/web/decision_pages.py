"""Pages next to grading: the agreement of two markers, regrade requests, and decisions that override both rounds."""

import uuid
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from starlette.responses import Response

from viva.formats.decimal_points import show
from viva.model import Attempt
from viva.model.errors import UsageError
from viva.model.hand_grading import FIRST, SECOND, SETTLED, Judgement, Place
from viva.plugins.review.decision_log import place_of
from viva.plugins.review.marker_agreement import agreement, cohen_kappa
from viva.plugins.review.rubric_points import MOST_REQUEST, adjustment, tidied
from viva.plugins.review.web import page_values
from viva.plugins.review.web.grading_pages import UNDONE, unix
from viva.plugins.review.web.requests import NotFound, RequestContext, address_of, decision_on, get, post
from viva.plugins.review.written_answers import Answer, GradedSubmission

_DISAGREEMENT = "Two markers came to different points."
_MOST_FOUND = 20


def agreements(context: RequestContext) -> Response:
    """Show how far first and second markers agree, question by question."""
    rows = []
    for question in context.queue.rubric.questions:
        pairs = context.queue.pairs(question.number)
        quadratic = agreement(pairs, "quadratic")
        rows.append(
            {
                "question": question,
                "n": quadratic.n,
                "exact": _float(quadratic.exact),
                "plain": _float(cohen_kappa(pairs)),
                "linear": _float(cohen_kappa(pairs, "linear")),
                "quadratic": _float(quadratic.kappa),
                "words": quadratic.words,
            }
        )
    return context.show("agreement.html.j2", rows=rows, differing=len(context.queue.decisions.differing()))


def differing(context: RequestContext) -> Response:
    """Show the answers on which two markers differ."""
    keys = set(context.queue.decisions.differing())
    answers = [answer for answer in context.queue.all_answers() if answer.key in keys]
    about = "Both markers have graded these with different points. They are not graded yet until someone decides."
    return _queue(
        context, "Disagreements of two markers", about, [(answer, _difference(context, answer)) for answer in answers]
    )


def appeals(context: RequestContext) -> Response:
    """Show the regrade requests, those that wait first."""
    rows = []
    for key, waits in sorted(context.queue.decisions.appealed().items(), key=lambda item: not item[1]):
        if answer := context.queue.answer(key):
            request = context.queue.decisions.appeals(key)[-1].why
            rows.append((answer, f"{'waiting' if waits else 'decided'}: {request[:200]}"))
    about = "A student's request is noted on the page of the answer; find it by name under Students."
    return _queue(context, "Requests for another look", about, rows)


def students(context: RequestContext) -> Response:
    """Show the answers of the students whose name, id or email contains a text."""
    find = context.fields.text("find")
    found: dict[str, dict[str, Any]] = {}
    wanted = find.strip().casefold()
    matching: dict[str, list[GradedSubmission]] = {}
    for answer in context.queue.all_answers() if wanted else ():
        if answer.content_hash not in matching:
            matching[answer.content_hash] = [
                submission for submission in answer.submissions if _matches(wanted, submission.attempt)
            ]
        for submission in matching[answer.content_hash]:
            if submission.attempt.name in found or len(found) < _MOST_FOUND:
                names = page_values.names(replace(answer, submissions=(submission,)))[0]
                row = found.setdefault(
                    submission.attempt.name, {"name": names, "attempt": submission.attempt.name, "rows": []}
                )
                row["rows"].append(_of_student(context, answer))
    return context.show(
        "students.html.j2", find=find[:200], found=sorted(found.values(), key=lambda student: str(student["name"]))
    )


def decision(context: RequestContext, number: str, content_hash: str) -> Response:
    """Show the page for a decision that overrides both rounds."""
    note, named = context.fields.text("note"), context.fields.text("named")
    said = {"decided": "Decided.", "noted": "The request is noted.", "undone": UNDONE}.get(note, "")
    return _decision_page(context, context.answer(number, content_hash), note=said, named=bool(named))


def decide(context: RequestContext, number: str, content_hash: str) -> Response:
    """Store a decision with its reason."""
    answer, fields = context.answer(number, content_hash), context.fields
    items, adjust, comment = fields.texts("items"), fields.text("adjust"), unix(fields.text("comment"))
    why, seen, action = fields.text("why"), fields.number("seen", 0), fields.text("action")
    if not _may_decide(context, answer):
        raise NotFound("Grade this answer first, so that the grades of others do not influence your decision.")
    proposal = Judgement(items=tuple(items), comment=comment, points=answer.points)
    try:
        judgement = context.queue.judge(answer, items, adjustment(adjust), comment, done=True)
        context.queue.settle(context.marker.name, answer, judgement, unix(why), action=action[:64], seen=seen)
    except UsageError as error:
        typed = _Typed(proposal=proposal, adjust=adjust, why=why)
        return _decision_page(context, answer, note=str(error), fault=True, typed=typed)
    return context.go(f"{decision_on(answer)}?note=decided")


def note_request(context: RequestContext, number: str, content_hash: str) -> Response:
    """Store a regrade request."""
    answer, request = context.answer(number, content_hash), context.fields.text("request")
    try:
        said = tidied(unix(request), "request", MOST_REQUEST)
        context.queue.decisions.appeal((content_hash, number), said, context.marker.name)
    except UsageError as error:
        return _decision_page(context, answer, note=str(error), fault=True, named=True, typed=_Typed(request=request))
    return context.go(f"{decision_on(answer)}?note=noted&named=yes")


@dataclass(frozen=True, slots=True)
class _Typed:
    """What a form held that could not be stored, so that the page shows it again."""

    proposal: Judgement | None = None
    adjust: str | None = None
    why: str = ""
    request: str = ""


_NOTHING_TYPED: Final = _Typed()


def _decision_page(
    context: RequestContext,
    answer: Answer,
    *,
    note: str = "",
    fault: bool = False,
    named: bool = False,
    typed: _Typed = _NOTHING_TYPED,
) -> Response:
    decisions = context.queue.decisions
    key = answer.key
    may = _may_decide(context, answer)
    standing = decisions.standing(key)
    # After a disagreement nothing is ticked: one marker's choice would influence the decision.
    stands = standing.judgement or Judgement(points=answer.points)
    requests = decisions.appeals(key)
    history = decisions.history(key)
    return context.show(
        "decide.html.j2",
        422 if fault else 200,
        question=context.question(answer.question),
        asked=page_values.question_text(context.queue, answer.question),
        address=decision_on(answer),
        marking=address_of(answer),
        shown=page_values.shown(answer),
        names=page_values.names(answer),
        named=named or bool(requests),
        appeals=requests,
        standing=standing,
        history=page_values.visible_history(context.queue, context.marker, answer, history),
        can_decide=may,
        proposal=typed.proposal or stands,
        adjust=typed.adjust if typed.adjust is not None else str(stands.adjust or ""),
        why=typed.why or ("" if requests else _DISAGREEMENT if standing.why_open else ""),
        request=typed.request,
        seen=decisions.seen(Place(*key, SETTLED, 0)),
        action=uuid.uuid4().hex,
        note=note,
        fault=fault,
    )


def _may_decide(context: RequestContext, answer: Answer) -> bool:
    """Return whether the marker may decide, and see the other round: only after grading the answer in their own."""
    return page_values.has_marked(context.queue, context.marker, answer)


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def _matches(wanted: str, attempt: Attempt) -> bool:
    texts = (attempt.name, *(text for s in attempt.students for text in (s.id, s.name, s.email)))
    return any(wanted in text.casefold() for text in texts)


def _difference(context: RequestContext, answer: Answer) -> str:
    rows = [context.queue.decisions.at(place_of(answer.key, round_)) for round_ in (FIRST, SECOND)]
    one, two = (show(row.judgement.earned) if row is not None else "–" for row in rows)
    return f"{one} and {two} of {show(answer.points)} points"


def _of_student(context: RequestContext, answer: Answer) -> dict[str, str]:
    standing = context.queue.decisions.standing(answer.key)
    waits = context.queue.decisions.waits(answer.key)
    mark = f"{show(standing.judgement.earned)} of {show(answer.points)}" if standing.judgement else "open"
    return {
        "address": f"{decision_on(answer)}?named=yes",
        "number": answer.question,
        "title": context.question(answer.question).title,
        "mark": mark if _may_decide(context, answer) else "not graded yet",
        "request": "" if waits is None else "waiting" if waits else "decided",
    }


def _queue(context: RequestContext, heading: str, about: str, answers: list[tuple[Answer, str]]) -> Response:
    rows = [
        {
            "address": decision_on(answer),
            "number": answer.question,
            "place": context.queue.position(answer),
            "what": what,
        }
        for answer, what in answers
    ]
    return context.show("queue.html.j2", heading=heading, about=about, rows=rows, note="")


ROUTES: Final = (
    get("/agreement", agreements),
    get("/differing", differing),
    get("/appeals", appeals),
    get("/students", students),
    get("/decide/{number}/{content_hash}", decision),
    post("/decide/{number}/{content_hash}", decide),
    post("/decide/{number}/{content_hash}/request", note_request),
)
