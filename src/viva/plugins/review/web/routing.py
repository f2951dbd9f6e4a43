"""Routes of pages: a handler gets the context of the request and the parts of its path, and runs in a thread."""

from collections.abc import Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import ImmutableMultiDict
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from viva.plugins.review.web.fields import Fields
from viva.plugins.review.web.request_context import RequestContext, ready_context

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
