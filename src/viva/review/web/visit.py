"""One request: who asks, at which desk, and how a page is made for them."""

from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from viva.course.rubric import Question
from viva.review.answers import Answer
from viva.review.desk import Desk, Marker
from viva.review.web.rendering import page

PATIENCE_S = 60.0
"""How long a page waits for a class that is still being read."""


class NotThere(Exception):
    """An address that leads nowhere; its sentence is shown."""


@dataclass(frozen=True, slots=True)
class Visit:
    """Who asks, and where."""

    desk: Desk
    marker: Marker
    csrf: str
    by_htmx: bool

    def show(self, template: str, status: int = 200, **values: Any) -> HTMLResponse:
        """A page."""
        return HTMLResponse(page(template, self.desk, self.marker, self.csrf, **values), status)

    def go(self, address: str) -> Response:
        """On to another page."""
        if self.by_htmx:
            return Response(status_code=200, headers={"HX-Redirect": address})
        return RedirectResponse(address, 303)

    def question(self, number: str) -> Question:
        """The rubric's question.

        Raises:
            NotThere: there is none of that number.
        """
        found = self.desk.rubric.question(number)
        if found is None:
            raise NotThere(f"The rubric has no question {number[:40]}.")
        return found

    def answer(self, number: str, content_hash: str) -> Answer:
        """An answer.

        Raises:
            NotThere: there is no such.
        """
        self.question(number)
        found = self.desk.answer((content_hash, number))
        if found is None:
            raise NotThere("This answer is not in the class; another attempt may have taken its place.")
        return found


def visit(request: Request) -> Visit:
    """The visit of a request, once the class was read; what other markers did is taken in before."""
    desk: Desk = request.app.state.desk
    session = request.scope["viva"]
    desk.ready.wait(PATIENCE_S)
    if desk.fault is not None:
        raise NotThere("The class cannot be read; the first page says why.")
    desk.refresh()
    return Visit(desk, Marker(session.marker, session.round), session.csrf, "hx-request" in request.headers)


Asked = Annotated[Visit, Depends(visit)]


def address_of(answer: Answer) -> str:
    """The page of an answer."""
    return f"/q/{quote(answer.question, safe='')}/{answer.content_hash}"


def decision_on(answer: Answer) -> str:
    """The page where it is decided above both rounds."""
    return f"/decide/{quote(answer.question, safe='')}/{answer.content_hash}"
