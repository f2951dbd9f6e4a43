"""The pages as a FastAPI application. Requests without a session do not reach it: see `guard`."""

from typing import cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from viva.model.errors import UsageError
from viva.review.queue import Desk
from viva.review.web import csv_pages, decision_pages, grading_pages, overview_page
from viva.review.web.request_context import NotThere, NotYet, Visit


def create_app(desk: Desk) -> FastAPI:
    """Create the application for a queue; it expects the session of each request as `scope["viva"]`."""
    app = FastAPI(title="viva review", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.desk = desk
    for part in (overview_page, csv_pages, decision_pages, grading_pages):
        app.include_router(part.router)
    app.add_exception_handler(NotThere, _not_there)
    app.add_exception_handler(NotYet, _not_yet)
    app.add_exception_handler(UsageError, _not_now)
    app.add_exception_handler(HTTPException, _unknown)
    app.add_exception_handler(RequestValidationError, _unreadable)
    return app


def _not_there(request: Request, error: Exception) -> Response:
    return _message(request, 404, "Nothing is here", str(error))


def _not_yet(request: Request, error: Exception) -> Response:
    return _message(request, 503, "The answers are not here", str(error))


def _not_now(request: Request, error: Exception) -> Response:
    """Reply that data cannot be read or written now; the page then sends again what was not saved."""
    return _message(request, 503, "This cannot be done now", str(error))


def _unknown(request: Request, error: Exception) -> Response:
    status = cast(HTTPException, error).status_code
    return _message(request, status, "Nothing is here", "This address leads nowhere.")


def _unreadable(request: Request, _error: Exception) -> Response:
    return _message(request, 422, "That was not understood", "A field of the form holds what it cannot hold.")


def _message(request: Request, status: int, heading: str, sentence: str) -> Response:
    return Visit.of(request).show("message.html.j2", status, heading=heading, sentence=sentence)
