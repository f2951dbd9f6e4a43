"""The context of one request: the queue, the marker, and how a page is rendered for them."""

from dataclasses import dataclass
from typing import Self
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from viva.config.rubric import Question
from viva.plugins.review.leases import Marker
from viva.plugins.review.queue import ReviewQueue
from viva.plugins.review.web.fields import Fields
from viva.plugins.review.web.page_rendering import page
from viva.plugins.review.written_answers import Answer

CLASS_TIMEOUT_S = 60.0
"""How long a page waits until the class is read."""


class NotFound(Exception):
    """There is no page at this address; the message is shown."""


class ClassNotReady(Exception):
    """The class is not read yet, or cannot be; the message is shown, and the page sends unsaved input again."""


@dataclass(frozen=True, slots=True)
class RequestContext:
    """What a handler needs to know about a request."""

    queue: ReviewQueue
    marker: Marker
    csrf: str
    by_htmx: bool
    fields: Fields

    @classmethod
    def of(cls, request: Request, fields: Fields) -> Self:
        """Return the context of a request, whether the class is read or not."""
        session = request.session
        marker = Marker(session["marker"], session["round"])
        return cls(request.app.state.queue, marker, session["csrf"], "hx-request" in request.headers, fields)

    def show(self, template: str, status: int = 200, **values: object) -> HTMLResponse:
        """Render a page."""
        return HTMLResponse(page(template, self.queue, self.marker, self.csrf, **values), status)

    def go(self, address: str) -> Response:
        """Redirect to another page."""
        if self.by_htmx:
            return Response(status_code=200, headers={"HX-Redirect": address})
        return RedirectResponse(address, 303)

    def question(self, number: str) -> Question:
        """Return a question of the rubric.

        Raises:
            NotFound: the rubric has no question of this number.
        """
        found = self.queue.rubric.question(number)
        if found is None:
            raise NotFound(f"The rubric has no question {number[:40]}.")
        return found

    def answer(self, number: str, content_hash: str) -> Answer:
        """Return an answer.

        Raises:
            NotFound: there is no such question or answer.
        """
        self.question(number)
        found = self.queue.answer((content_hash, number))
        if found is None:
            raise NotFound("This answer is not in the class; another attempt may have taken its place.")
        return found


def ready_context(request: Request, fields: Fields) -> RequestContext:
    """Return the context of a request after the class is read and the decisions of other markers are added.

    Raises:
        ClassNotReady: the class is still being read, or cannot be read.
    """
    context = RequestContext.of(request, fields)
    queue = context.queue
    if not queue.ready.wait(CLASS_TIMEOUT_S):
        raise ClassNotReady("The class is still being read; the first page says how far that is.")
    if queue.fault is not None:
        raise ClassNotReady("The class cannot be read; the first page says why.")
    queue.refresh()
    return context


def address_of(answer: Answer) -> str:
    """Return the address of the page of an answer."""
    return f"/q/{quote(answer.question, safe='')}/{answer.content_hash}"


def decision_on(answer: Answer) -> str:
    """Return the address of the page for decisions about an answer."""
    return f"/decide/{quote(answer.question, safe='')}/{answer.content_hash}"
