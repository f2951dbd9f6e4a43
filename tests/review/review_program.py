"""`viva review` as a program, with a small app in place of its pages: `python review_program.py essays --port 8123`."""

import sys
import types
from typing import Any

from served import pages
from starlette.responses import PlainTextResponse

from viva.cli import main
from viva.model.errors import UsageError


def open_desk(course: Any, what: Any, records_url: Any, assignment: Any) -> tuple[Any, ...]:
    """What the command asks for, as it is."""
    if assignment == "unreadable":
        raise UsageError("The answers cannot be read.")
    if assignment == "slow":
        print("reading", flush=True)
        sys.stdin.readline()
    return str(what), records_url, assignment


def create_app(desk: tuple[Any, ...], access: Any) -> Any:
    """The small app; `/desk` says what it was made for, `/holds` answers when a line comes in."""
    app = pages()

    @app.get("/desk")
    def told() -> PlainTextResponse:
        return PlainTextResponse(repr((desk, access.start)))

    @app.get("/holds")
    def holds() -> PlainTextResponse:
        print("holding", flush=True)
        return PlainTextResponse("at last " + sys.stdin.readline())

    return app


def write_table(desk: Any, path: Any) -> str:
    """What is asked for, as it is."""
    return f"written {desk} {path}"


def read_table(desk: Any, path: Any, marker: str, round: int) -> str:
    """What is asked for, as it is."""
    return f"read {desk} {path} {marker} {round}"


def put_in_place() -> None:
    """Let the command find these."""
    opening: Any = types.ModuleType("viva.review.opening")
    opening.open_desk, opening.write_table, opening.read_table = open_desk, write_table, read_table
    web: Any = types.ModuleType("viva.review.web.app")
    web.create_app = create_app
    sys.modules |= {opening.__name__: opening, web.__name__: web}
    main.COMMANDS["review"] = ("viva.cli.review", "Mark written answers in the browser.")


if __name__ == "__main__":
    put_in_place()
    main.main(["review", *sys.argv[1:]])
