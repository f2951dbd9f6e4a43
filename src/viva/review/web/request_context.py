"""One request: who asks, at which desk, and how a page is made for them."""

from dataclasses import dataclass
from typing import Annotated, Any, Self
from urllib.parse import quote

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from viva.config.rubric import Question
from viva.review.leases import Marker
from viva.review.queue import Desk
from viva.review.web.page_rendering import page
from viva.review.written_answers import Answer

PATIENCE_S = 60.0
"""How long a page waits for a class that is still being read."""


class NotThere(Exception):
    """An address that leads nowhere; its sentence is shown."""


class NotYet(Exception):
    """The class is not there: a page that waits for it sends again what it could not keep. Its sentence is shown."""


@dataclass(frozen=True, slots=True)
class Visit:
    """Who asks, and where."""

    desk: Desk
    marker: Marker
    csrf: str
    by_htmx: bool

    @classmethod
    def of(cls, request: Request) -> Self:
        """That of a request, whether the class is there or not."""
        session = request.scope["viva"]
        marker = Marker(session.marker, session.round)
        return cls(request.app.state.desk, marker, session.csrf, "hx-request" in request.headers)

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
    """The visit of a request, once the class was read; what other markers did is taken in before.

    Raises:
        NotYet: it is still being read, or cannot be.
    """
    asked = Visit.of(request)
    desk = asked.desk
    if not desk.ready.wait(PATIENCE_S):
        raise NotYet("The class is still being read; the first page says how far that is.")
    if desk.fault is not None:
        raise NotYet("The class cannot be read; the first page says why.")
    desk.refresh()
    return asked


Asked = Annotated[Visit, Depends(visit)]


def address_of(answer: Answer) -> str:
    """The page of an answer."""
    return f"/q/{quote(answer.question, safe='')}/{answer.content_hash}"


def decision_on(answer: Answer) -> str:
    """The page where it is decided above both rounds."""
    return f"/decide/{quote(answer.question, safe='')}/{answer.content_hash}"
