"""A small app behind the guard, on a real server of this machine, and a browser that knows cookies but no rules."""

import base64
import contextlib
import http.client
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

import itsdangerous
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, StreamingResponse
from starlette.routing import Route

from viva.plugins.review.web.access import Access
from viva.plugins.review.web.guard import protect, show_fault
from viva.plugins.review.web.listening import listen
from viva.plugins.review.web.server import ServerOptions, make_server

KEY = bytes(range(32))
PASSWORD = "correct horse"


def pages() -> Starlette:
    """Answers in place of the pages of `viva review`; `app.state.marks` holds what got through."""
    app = Starlette(routes=[*map(Route, _PATHS, _PATHS.values()), Route("/mark", _mark, methods=["POST"]),
                            Route("/marks.csv", _table, methods=["POST"])])  # fmt: skip
    app.add_exception_handler(Exception, show_fault)
    app.state.marks = []
    app.state.asked, app.state.goes_on = threading.Event(), threading.Event()
    return app


async def _start(request: Request) -> JSONResponse:
    return JSONResponse({name: request.session[name] for name in ("marker", "round", "csrf")})


async def _mark(request: Request) -> PlainTextResponse:
    form = await request.form()
    request.app.state.marks.append((request.session["marker"], form.get("points")))
    return PlainTextResponse("kept")


async def _table(request: Request) -> PlainTextResponse:
    async with request.form() as form:
        upload: Any = form["file"]
        return PlainTextResponse(str(len(await upload.read())))


async def _fails(_request: Request) -> NoReturn:
    raise RuntimeError("a fault of \x1b[31mours")


async def _fails_late(_request: Request) -> StreamingResponse:
    async def half() -> Any:
        yield b"half"
        raise RuntimeError("too late")

    return StreamingResponse(half())


async def _says_500(_request: Request) -> PlainTextResponse:
    return PlainTextResponse("its own words", 500)


async def _own_headers(_request: Request) -> PlainTextResponse:
    loose = {"Server": "x", "Content-Security-Policy": "default-src *", "Cache-Control": "public", "X-Own": "kept"}
    return PlainTextResponse("", headers=loose)


def _waits(request: Request) -> PlainTextResponse:
    request.app.state.asked.set()
    request.app.state.goes_on.wait(60)
    return PlainTextResponse("at last")


_PATHS = {
    "/": _start,
    "/fails": _fails,
    "/fails-late": _fails_late,
    "/says-500": _says_500,
    "/own-headers": _own_headers,
    "/waits": _waits,
}


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: http.client.HTTPMessage
    body: str


@dataclass
class Browser:
    """Sends what it is told to, with the cookies that it was given."""

    port: int
    cookies: dict[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str, body: Any = None, /, **headers: str | None) -> Answer:
        """One request on a connection of its own; `_` in names stands for `-`, None leaves a header out."""
        given: dict[str, str | None] = {"host": f"127.0.0.1:{self.port}", "accept": "text/html,*/*;q=0.8"}
        if self.cookies:
            given["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with contextlib.closing(connection):
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            if isinstance(body, str):
                body = body.encode()
                given.setdefault("content-type", "application/x-www-form-urlencoded")
            if isinstance(body, bytes):
                given.setdefault("content-length", str(len(body)))
            for name, value in given.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders()
            if body is not None:
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    for part in [body] if isinstance(body, bytes) else body:
                        connection.send(part)
            reply = connection.getresponse()
            answer = Answer(reply.status, reply.headers, reply.read().decode())
        for cookie in reply.headers.get_all("set-cookie") or ():
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        return answer


@dataclass
class Review:
    """A running server."""

    access: Access
    app: Starlette
    port: int
    log: list[str] = field(default_factory=list)

    def browser(self, *, inside: bool = True) -> Browser:
        """Return a browser; with `inside` it has opened the address."""
        browser = Browser(self.port)
        if inside:
            assert browser.ask("GET", f"/?token={self.access.token}").status == 303
        return browser


def sign_session(access: Access, session: dict[str, Any]) -> str:
    """Return the value of the cookie that holds a session."""
    data = base64.b64encode(json.dumps(session).encode())
    return itsdangerous.TimestampSigner(access.secret).sign(data).decode()


@contextlib.contextmanager
def served(*, password: str | None = None) -> Iterator[Review]:
    """Serve the small app behind the guard until the end of the block."""
    app = pages()
    with behind_the_guard(app, password=password) as review:
        try:
            yield review
        finally:
            app.state.goes_on.set()


@contextlib.contextmanager
def behind_the_guard(app: Starlette, *, password: str | None = None) -> Iterator[Review]:
    """Serve an app behind the guard until the end of the block."""
    at, _ = listen(None, None, 0)
    hosts = None if password else at.hosts
    access = Access(KEY, hosts=hosts, password=password, marker="ada", round=1, port=at.port)
    running = make_server(protect(app, access), ServerOptions("", "ada", 1))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [at.socket]})
    thread.start()
    try:
        yield Review(access, app, at.port)
    finally:
        running.should_exit = True
        thread.join()
        at.socket.close()
