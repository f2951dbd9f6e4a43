"""A local HTTP server in a thread, for platforms that the tests imitate: it keeps every request and injects faults."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

TOKEN = "T0KENofTheTests4711"
S = TypeVar("S", bound="Server")


@dataclass
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    query: list[tuple[str, str]]
    headers: Mapping[str, str]
    body: bytes
    fields: list[tuple[str, str]] = field(default_factory=list)
    file: tuple[str, bytes] | None = None
    file_is_last: bool = False

    def get(self, name: str, otherwise: str = "") -> str:
        return dict([*self.query, *self.fields]).get(name, otherwise)

    def has_token(self) -> bool:
        return TOKEN in f"{self.path}{self.query}{self.headers}" or TOKEN.encode() in self.body


@dataclass
class Reply:
    """What is answered."""

    status: int = 200
    data: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    """Close the connection in the middle of the body."""

    def body(self) -> bytes:
        return self.data if isinstance(self.data, bytes) else json.dumps(self.data).encode()


Fault = Callable[[Asked], "Reply | None"]


class Server:
    """Serves one `answer` function on 127.0.0.1."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.faults: list[Fault] = []
        """Asked in turn before each request; the first reply is sent instead of the real one."""
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else each body waits 40 ms for the acknowledgement of its headers

            def log_message(self, *_arguments: object) -> None:
                pass

            def _serve(self) -> None:
                size = int(self.headers.get("content-length") or 0)
                split = urlsplit(self.path)
                asked = Asked(
                    self.command, split.path, parse_qsl(split.query, keep_blank_values=True),
                    {name.lower(): value for name, value in self.headers.items()}, self.rfile.read(size),
                )  # fmt: skip
                read_body(asked)
                with outer._lock:
                    outer.asked.append(asked)
                    reply = next((r for fault in outer.faults if (r := fault(asked)) is not None), None)
                    reply = outer.answer(asked) if reply is None else reply
                body = reply.body()
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body[: len(body) // 2] if reply.cut else body)
                if reply.cut:
                    self.close_connection = True

            do_GET = do_POST = do_PUT = _serve  # noqa: N815  # the names that http.server calls

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    def answer(self, asked: Asked) -> Reply:
        raise NotImplementedError

    def stop(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def writes(self) -> list[Asked]:
        """The requests that change something; a subclass says which."""
        return [asked for asked in self.asked if asked.method != "GET"]


def read_body(asked: Asked) -> None:
    kind = asked.headers.get("content-type", "")
    if kind.startswith("application/x-www-form-urlencoded"):
        asked.fields = parse_qsl(asked.body.decode(), keep_blank_values=True)
    elif kind.startswith("multipart/form-data"):
        message: Any = BytesParser(policy=HTTP).parsebytes(f"Content-Type: {kind}\r\n\r\n".encode() + asked.body)
        for part in message.iter_parts():
            name = part.get_param("name", header="content-disposition")
            data = part.get_payload(decode=True)
            asked.file_is_last = part.get_filename() is not None
            if part.get_filename() is not None:
                asked.file = part.get_filename(), data
            else:
                asked.fields.append((name, data.decode()))


@contextmanager
def serving(server: S) -> Iterator[S]:
    try:
        yield server
    finally:
        server.stop()


def times(count: int, reply: Reply, when: Callable[[Asked], bool] = lambda asked: True) -> Fault:
    """A fault that happens so many times."""
    left = [count]

    def fault(asked: Asked) -> Reply | None:
        if left[0] and when(asked):
            left[0] -= 1
            return reply
        return None

    return fault
