"""A small app behind the guard, on a real server of this machine, and a browser that knows cookies but no rules."""

import contextlib
import http.client
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI, Request
from starlette.responses import JSONResponse, PlainTextResponse, StreamingResponse

from viva.review.web.serving.listening import listen
from viva.review.web.serving.server import ServerOptions, server
from viva.review.web.sign_in.access import Access
from viva.review.web.sign_in.guard import Guard

KEY = bytes(range(32))
PASSWORD = "correct horse"


def pages() -> FastAPI:
    """Answers in place of the pages of `viva review`; `app.state.marks` holds what got through."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.state.marks = []
    app.state.asked, app.state.goes_on = threading.Event(), threading.Event()

    @app.get("/")
    async def start(request: Request) -> JSONResponse:
        session = request.scope["viva"]
        return JSONResponse({"marker": session.marker, "round": session.round, "csrf": session.csrf})

    @app.post("/mark")
    async def mark(request: Request) -> PlainTextResponse:
        form = await request.form()
        app.state.marks.append((request.scope["viva"].marker, form.get("points")))
        return PlainTextResponse("kept")

    @app.post("/marks.csv")
    async def table(request: Request) -> PlainTextResponse:
        async with request.form() as form:
            upload: Any = form["file"]
            return PlainTextResponse(str(len(await upload.read())))

    @app.get("/fails")
    async def fails() -> None:
        raise RuntimeError("a fault of \x1b[31mours")

    @app.get("/fails-late")
    async def fails_late() -> StreamingResponse:
        async def half() -> Any:
            yield b"half"
            raise RuntimeError("too late")

        return StreamingResponse(half())

    @app.get("/says-500")
    async def says_500() -> PlainTextResponse:
        return PlainTextResponse("its own words", 500)

    @app.get("/own-headers")
    async def own_headers() -> PlainTextResponse:
        loose = {"Server": "x", "Content-Security-Policy": "default-src *", "Cache-Control": "public", "X-Own": "kept"}
        return PlainTextResponse("", headers=loose)

    @app.get("/waits")
    def waits() -> PlainTextResponse:
        app.state.asked.set()
        app.state.goes_on.wait(60)
        return PlainTextResponse("at last")

    return app


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
    app: FastAPI
    port: int
    log: list[str] = field(default_factory=list)

    def browser(self, *, inside: bool = True) -> Browser:
        """Return a browser; with `inside` it has opened the address."""
        browser = Browser(self.port)
        if inside:
            assert browser.ask("GET", f"/?token={self.access.token}").status == 303
        return browser


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
def behind_the_guard(app: FastAPI, *, password: str | None = None) -> Iterator[Review]:
    """Serve an app behind the guard until the end of the block."""
    at, _ = listen(None, None, 0)
    hosts = None if password else at.hosts
    access = Access(KEY, hosts=hosts, password=password, marker="ada", round=1, port=at.port)
    running = server(Guard(app, access), ServerOptions("", "ada", 1))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [at.socket]})
    thread.start()
    try:
        yield Review(access, app, at.port)
    finally:
        running.should_exit = True
        thread.join()
        at.socket.close()
