"""`viva review` as a program, with a small app in place of its pages: `python review_program.py essays --port 8123`."""

import contextlib
import os
import sys
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from tests.support.served_app import pages
from viva.cli.main import main
from viva.model.errors import UsageError
from viva.plugins.review.commands import review


class QueueRequest(NamedTuple):
    """The arguments with which the command asks for a queue."""

    what: str
    records_url: str | None
    assignment: str | None

    def wait(self) -> None:
        """Return at once."""


@contextlib.contextmanager
def queue_for(course: Any, what: Any, records_url: Any, assignment: Any) -> Iterator[QueueRequest]:
    """Yield the arguments of the command."""
    if assignment == "unreadable":
        raise UsageError("The answers cannot be read.")
    if assignment == "slow":
        print("reading", flush=True)
        os.read(0, 1)  # without the lock of `sys.stdin`, which an interpreter that ends would want
    yield QueueRequest(str(what), records_url, assignment)


def create_app(queue: QueueRequest) -> Any:
    """Return a small app: `/queue` shows its arguments, and `/holds` answers after a line of input."""

    def told(_request: Request) -> PlainTextResponse:
        return PlainTextResponse(repr(tuple(queue)))

    def holds(_request: Request) -> PlainTextResponse:
        print("holding", flush=True)
        return PlainTextResponse("at last " + sys.stdin.readline())

    app = pages()
    app.router.routes += [Route("/queue", told), Route("/holds", holds)]
    return app


def put_in_place() -> None:
    """Let the command find these."""
    web: Any = types.ModuleType("viva.plugins.review.web.app")
    web.create_app = create_app
    sys.modules[web.__name__] = web
    command: Any = review
    command.queue_for = queue_for


if __name__ == "__main__":
    put_in_place()
    main(["review", *sys.argv[1:]])
