"""A request to a page: its fields, the marker, how a page is rendered for them, and the routes of pages."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import quote

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import ImmutableMultiDict, UploadFile
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from viva.config.rubric import Question
from viva.plugins.report import rendering, safe_html
from viva.plugins.review.leases import Marker
from viva.plugins.review.queue import ReviewQueue
from viva.plugins.review.web.static_files import address
from viva.plugins.review.written_answers import Answer

_TEMPLATES: Final = Path(__file__).with_name("templates")
_NUMBER: Final = re.compile("-?[0-9]{1,100}")
"""`int` also takes spaces, underscores and the digits of other scripts."""


class InvalidField(Exception):
    """A field is missing or has the wrong kind of value, which the pages never send."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The values that a browser sent. Each method raises `InvalidField` if a value is of another kind."""

    sent: "ImmutableMultiDict[str, str | UploadFile]"

    def text(self, name: str, default: str = "") -> str:
        """Return a text; the default if it was not sent."""
        return _as_text(self.sent.get(name, default))

    def texts(self, name: str) -> list[str]:
        """Return every text that was sent under a name."""
        return [_as_text(value) for value in self.sent.getlist(name)]

    def number(self, name: str, default: int) -> int:
        """Return a whole number; the default if it was not sent."""
        text = self.text(name, str(default))
        if not _NUMBER.fullmatch(text):
            raise InvalidField
        return int(text)

    def file(self, name: str) -> bytes:
        """Return the content of an uploaded file."""
        value = self.sent.get(name)
        if not isinstance(value, UploadFile):
            raise InvalidField
        return value.file.read()


def _as_text(value: str | UploadFile) -> str:
    if not isinstance(value, str):
        raise InvalidField
    return value


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
    def read(cls, request: Request, fields: Fields) -> Self:
        """Return the context of a request, whether the class is read or not."""
        session = request.session
        marker = Marker(session["marker"], session["round"])
        return cls(request.app.state.queue, marker, session["csrf"], "hx-request" in request.headers, fields)

    def show(self, template: str, status: int = 200, **values: object) -> HTMLResponse:
        """Render a page."""
        environment = rendering.environment(_TEMPLATES)
        environment.filters.setdefault("prose", _render_handout)
        queue, common = self.queue, {"marker": self.marker, "csrf": self.csrf, "static": address}
        html = environment.get_template(template).render(queue=queue, assignment=queue.assignment, **common, **values)
        return HTMLResponse(html, status)

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
            NotFound: the question or the answer does not exist.
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
    context = RequestContext.read(request, fields)
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


def _render_handout(text: str) -> Markup:
    return safe_html.render_text(text, html=True)


Handler = Callable[..., Response]
ContextOf = Callable[[Request, Fields], RequestContext]


def get(path: str, handler: Handler, context_of: ContextOf = ready_context) -> Route:
    """Return the route of a page; its fields are those of the query."""

    async def endpoint(request: Request) -> Response:
        return await _reply(request, request.query_params, handler, context_of)

    return Route(path, endpoint, methods=["GET"])


def post(path: str, handler: Handler) -> Route:
    """Return the route to which a form is sent."""

    async def endpoint(request: Request) -> Response:
        async with request.form() as form:
            return await _reply(request, form, handler, ready_context)

    return Route(path, endpoint, methods=["POST"])


async def _reply(
    request: Request, sent: "ImmutableMultiDict[str, Any]", handler: Handler, context_of: ContextOf
) -> Response:
    def reply() -> Response:
        return handler(context_of(request, Fields(sent)), **request.path_params)

    return await run_in_threadpool(reply)
