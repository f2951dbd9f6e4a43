"""The pages as a Starlette application. Requests without a session do not reach it: see `guard`."""

from typing import cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from viva.model.errors import UsageError
from viva.plugins.review.queue import ReviewQueue
from viva.plugins.review.web import decision_pages, grading_pages, overview_pages
from viva.plugins.review.web.guard import show_fault
from viva.plugins.review.web.requests import ClassNotReady, Fields, InvalidField, NotFound, RequestContext


def create_app(queue: ReviewQueue) -> Starlette:
    """Create the application for a queue; `guard.protect` lets only requests with a session in."""
    parts = (overview_pages, decision_pages, grading_pages)
    app = Starlette(routes=[route for part in parts for route in part.ROUTES])
    app.state.queue = queue
    app.add_exception_handler(NotFound, _not_found)
    app.add_exception_handler(ClassNotReady, _class_not_ready)
    app.add_exception_handler(UsageError, _not_possible)
    app.add_exception_handler(HTTPException, _unknown_address)
    app.add_exception_handler(Exception, show_fault)
    app.add_exception_handler(InvalidField, _invalid_form)
    return app


def _not_found(request: Request, error: Exception) -> Response:
    return _message(request, 404, "Nothing is here", str(error))


def _class_not_ready(request: Request, error: Exception) -> Response:
    return _message(request, 503, "The answers are not here", str(error))


def _not_possible(request: Request, error: Exception) -> Response:
    """Reply that data cannot be read or written now; the page then sends again what was not saved."""
    return _message(request, 503, "This cannot be done now", str(error))


def _unknown_address(request: Request, error: Exception) -> Response:
    status = cast(HTTPException, error).status_code
    return _message(request, status, "Nothing is here", "This address leads nowhere.")


def _invalid_form(request: Request, _error: Exception) -> Response:
    return _message(request, 422, "That was not understood", "A field of the form holds what it cannot hold.")


def _message(request: Request, status: int, heading: str, sentence: str) -> Response:
    context = RequestContext.read(request, Fields(request.query_params))
    return context.show("message.html.j2", status, heading=heading, sentence=sentence)
