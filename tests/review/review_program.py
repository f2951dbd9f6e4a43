"""`viva review` as a program, with a small app in place of its pages: `python review_program.py essays --port 8123`."""

import contextlib
import os
import sys
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

from served import pages
from starlette.responses import PlainTextResponse

from viva.cli import review
from viva.cli.main import main
from viva.model.errors import UsageError


class Asked(NamedTuple):
    """What the command wants a desk for."""

    what: str
    records_url: str | None
    assignment: str | None

    def wait(self) -> None:
        """It is there."""


@contextlib.contextmanager
def desk_for(course: Any, what: Any, records_url: Any, assignment: Any) -> Iterator[Asked]:
    """What the command asks for, as it is."""
    if assignment == "unreadable":
        raise UsageError("The answers cannot be read.")
    if assignment == "slow":
        print("reading", flush=True)
        os.read(0, 1)  # without the lock of `sys.stdin`, which an interpreter that ends would want
    yield Asked(str(what), records_url, assignment)


def create_app(desk: Asked) -> Any:
    """The small app; `/desk` says what it was made for, `/holds` answers when a line comes in."""
    app = pages()

    @app.get("/desk")
    def told() -> PlainTextResponse:
        return PlainTextResponse(repr(tuple(desk)))

    @app.get("/holds")
    def holds() -> PlainTextResponse:
        print("holding", flush=True)
        return PlainTextResponse("at last " + sys.stdin.readline())

    return app


def put_in_place() -> None:
    """Let the command find these."""
    web: Any = types.ModuleType("viva.review.web.app")
    web.create_app = create_app
    sys.modules[web.__name__] = web
    review.desk_for = desk_for


if __name__ == "__main__":
    put_in_place()
    main(["review", *sys.argv[1:]])
