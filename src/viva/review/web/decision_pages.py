"""Pages next to grading: the agreement of two markers, regrade requests, and decisions that override both rounds."""

import uuid
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any, Final

from fastapi import APIRouter, Form
from fastapi.responses import Response

from viva.formats.decimal_points import show
from viva.model.errors import UsageError
from viva.model.hand_grading import FIRST, SECOND, SETTLED, Judgement, Place
from viva.review.decision_log import place_of
from viva.review.marker_agreement import agreement, cohen_kappa
from viva.review.rubric_points import MOST_REQUEST, adjustment, tidied
from viva.review.web import page_values
from viva.review.web.grading_pages import UNDONE, Text, Texts, unix
from viva.review.web.request_context import Asked, NotThere, Visit, address_of, decision_on
from viva.review.written_answers import Answer, HandedIn

router = APIRouter()
_TWO = "Two markers came to different points."
_MOST_FOUND = 20


@router.get("/agreement")
def agreements(asked: Asked) -> Response:
    """Show how far first and second markers agree, question by question."""
    rows = []
    for question in asked.desk.rubric.questions:
        pairs = asked.desk.pairs(question.number)
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
    return asked.show("agreement.html.j2", rows=rows, differing=len(asked.desk.journal.differing()))


@router.get("/differing")
def differing(asked: Asked) -> Response:
    """Show the answers on which two markers differ."""
    keys = set(asked.desk.journal.differing())
    answers = [answer for answer in asked.desk.every() if answer.key in keys]
    about = "Both have marked these and came to different points; they stay open until somebody decides."
    return _queue(
        asked, "Disagreements of two markers", about, [(answer, _difference(asked, answer)) for answer in answers]
    )


@router.get("/appeals")
def appeals(asked: Asked) -> Response:
    """Show the regrade requests, those that wait first."""
    rows = []
    for key, waits in sorted(asked.desk.journal.appealed().items(), key=lambda each: not each[1]):
        if answer := asked.desk.answer(key):
            request = asked.desk.journal.appeals(key)[-1].why
            rows.append((answer, f"{'waiting' if waits else 'decided'}: {request[:200]}"))
    about = "A student's request is noted on the page of the answer; find it by name under Students."
    return _queue(asked, "Requests for another look", about, rows)


@router.get("/students")
def students(asked: Asked, find: str = "") -> Response:
    """Show the answers of the students whose name, id or email contains a text."""
    found: dict[str, dict[str, Any]] = {}
    wanted = find.strip().casefold()
    meant: dict[str, list[HandedIn]] = {}
    for answer in asked.desk.every() if wanted else ():
        if answer.content_hash not in meant:
            meant[answer.content_hash] = [one for one in answer.handed_in if _is_meant(wanted, one.attempt)]
        for one in meant[answer.content_hash]:
            if one.attempt.name in found or len(found) < _MOST_FOUND:
                names = page_values.names(replace(answer, handed_in=(one,)))[0]
                row = found.setdefault(one.attempt.name, {"name": names, "attempt": one.attempt.name, "rows": []})
                row["rows"].append(_of_student(asked, answer))
    return asked.show(
        "students.html.j2", find=find[:200], found=sorted(found.values(), key=lambda each: str(each["name"]))
    )


@router.get("/decide/{number}/{content_hash}")
def decision(asked: Asked, number: str, content_hash: str, note: str = "", named: str = "") -> Response:
    """Show the page for a decision that overrides both rounds."""
    said = {"decided": "Decided.", "noted": "The request is noted.", "undone": UNDONE}.get(note, "")
    return _decision_page(asked, asked.answer(number, content_hash), note=said, named=bool(named))


@router.post("/decide/{number}/{content_hash}")
def decide(  # noqa: PLR0913  # FastAPI fills each parameter from a form field
    asked: Asked,
    number: str,
    content_hash: str,
    items: Texts,
    adjust: Text = "",
    comment: Text = "",
    why: Text = "",
    seen: Annotated[int, Form()] = 0,
    action: Text = "",
) -> Response:
    """Store a decision with its reason."""
    answer = asked.answer(number, content_hash)
    if not _may_decide(asked, answer):
        raise NotThere("Mark this answer first: who decides must not be led by what others said.")
    proposal = Judgement(items=tuple(items), comment=unix(comment), points=answer.points)
    try:
        judgement = asked.desk.judged(answer, items, adjustment(adjust), unix(comment), done=True)
        asked.desk.settle(asked.marker.name, answer, judgement, unix(why), action=action[:64], seen=seen)
    except UsageError as error:
        typed = _Typed(proposal=proposal, adjust=adjust, why=why)
        return _decision_page(asked, answer, note=str(error), fault=True, typed=typed)
    return asked.go(f"{decision_on(answer)}?note=decided")


@router.post("/decide/{number}/{content_hash}/request")
def note_request(asked: Asked, number: str, content_hash: str, request: Text = "") -> Response:
    """Store a regrade request."""
    answer = asked.answer(number, content_hash)
    try:
        said = tidied(unix(request), "request", MOST_REQUEST)
        asked.desk.journal.appeal((content_hash, number), said, asked.marker.name)
    except UsageError as error:
        return _decision_page(asked, answer, note=str(error), fault=True, named=True, typed=_Typed(request=request))
    return asked.go(f"{decision_on(answer)}?note=noted&named=yes")


@dataclass(frozen=True, slots=True)
class _Typed:
    """What a form held that could not be stored, so that the page shows it again."""

    proposal: Judgement | None = None
    adjust: str | None = None
    why: str = ""
    request: str = ""


_NOTHING_TYPED: Final = _Typed()


def _decision_page(
    asked: Visit,
    answer: Answer,
    *,
    note: str = "",
    fault: bool = False,
    named: bool = False,
    typed: _Typed = _NOTHING_TYPED,
) -> Response:
    journal = asked.desk.journal
    key = answer.key
    may = _may_decide(asked, answer)
    standing = journal.standing(key)
    first = journal.at(place_of(answer.key, FIRST))
    stands = standing.judgement or (first.judgement if first is not None and may else Judgement(points=answer.points))
    requests = journal.appeals(key)
    history = journal.history(key)
    return asked.show(
        "decide.html.j2",
        422 if fault else 200,
        question=asked.question(answer.question),
        address=decision_on(answer),
        marking=address_of(answer),
        shown=page_values.shown(answer),
        names=page_values.names(answer),
        named=named or bool(requests),
        appeals=requests,
        standing=standing,
        history=page_values.told_to(asked.desk, asked.marker, answer, history),
        can_decide=may,
        proposal=typed.proposal or stands,
        adjust=typed.adjust if typed.adjust is not None else str(stands.adjust or ""),
        why=typed.why or ("" if requests else _TWO if standing.why_open else ""),
        request=typed.request,
        seen=journal.seen(Place(*key, SETTLED, 0)),
        action=uuid.uuid4().hex,
        note=note,
        fault=fault,
    )


def _may_decide(asked: Visit, answer: Answer) -> bool:
    """Return whether the marker may decide, and see the other round: only after grading the answer in their own."""
    return page_values.has_marked(asked.desk, asked.marker, answer)


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def _is_meant(wanted: str, attempt: Any) -> bool:
    texts = (attempt.name, *(text for s in attempt.students for text in (s.id, s.name, s.email)))
    return any(wanted in text.casefold() for text in texts)


def _difference(asked: Visit, answer: Answer) -> str:
    rows = [asked.desk.journal.at(place_of(answer.key, round_)) for round_ in (FIRST, SECOND)]
    one, two = (show(row.judgement.earned) if row is not None else "–" for row in rows)
    return f"{one} and {two} of {show(answer.points)} points"


def _of_student(asked: Visit, answer: Answer) -> dict[str, str]:
    standing = asked.desk.journal.standing(answer.key)
    waits = asked.desk.journal.waits(answer.key)
    mark = f"{show(standing.judgement.earned)} of {show(answer.points)}" if standing.judgement else "open"
    return {
        "address": f"{decision_on(answer)}?named=yes",
        "number": answer.question,
        "title": asked.question(answer.question).title,
        "mark": mark if _may_decide(asked, answer) else "not marked yet",
        "request": "" if waits is None else "waiting" if waits else "decided",
    }


def _queue(asked: Visit, heading: str, about: str, answers: list[tuple[Answer, str]]) -> Response:
    rows = [
        {"address": decision_on(answer), "number": answer.question, "place": asked.desk.position(answer), "what": what}
        for answer, what in answers
    ]
    return asked.show("queue.html.j2", heading=heading, about=about, rows=rows, note="")
