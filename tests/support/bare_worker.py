"""A worker without isolation layers, which tests ask over the connection."""

import os
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

import viva.sandbox.guest
from viva.sandbox.guest.process.counted_time import wall_countdown
from viva.sandbox.guest.transport import wire

INSIDE = Path(viva.sandbox.guest.__file__).parent
REPLY_TIMEOUT_S = 300.0
"""How long to wait for a reply before a test fails: on a loaded machine the slowest takes half a minute."""
PYTHON = os.environ.get("VIVA_TEST_PYTHON", sys.executable)


class Forker:
    """The process that forks workers; started once for a set of libraries."""

    def __init__(self, preload: Sequence[str], python: str = sys.executable) -> None:
        ours, theirs = socket.socketpair()
        self._channel = ours
        command = [
            python,
            str(Path(__file__).parent / "fork_server.py"),
            str(INSIDE),
            str(theirs.fileno()),
            *preload,
        ]
        self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()])
        theirs.close()

    def fork(self, work: Path) -> "Worker":
        """A worker whose work directory is `work`."""
        ours, theirs = socket.socketpair()
        socket.send_fds(self._channel, [str(work).encode()], [theirs.fileno()])
        theirs.close()
        return Worker(ours, work)

    def close(self) -> None:
        """End the process."""
        self._channel.close()
        self._process.wait(REPLY_TIMEOUT_S)


class Worker:
    """One forked worker."""

    def __init__(self, sock: socket.socket, work: Path) -> None:
        self.socket, self.work = sock, work
        self._notebooks = 0
        try:
            self.ready_message = wire.receive(sock, wall_countdown(REPLY_TIMEOUT_S))
        except BaseException:
            sock.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()

    def raw(self, op: str, timeout_s: float = REPLY_TIMEOUT_S, **fields: Any) -> dict[str, Any]:
        """One request and its whole reply."""
        self.socket.settimeout(timeout_s)
        wire.send(self.socket, {"op": op, **fields})
        reply = wire.receive(self.socket, wall_countdown(timeout_s))
        assert isinstance(reply, dict)
        return reply

    def ask(self, op: str, **fields: Any) -> Any:
        """The value of a reply that must be one."""
        reply = self.raw(op, **fields)
        assert "ok" in reply, reply
        return reply["ok"]

    def raises(self, op: str, **fields: Any) -> dict[str, Any]:
        """The exception of a reply that must be one."""
        reply = self.raw(op, **fields)
        assert "raised" in reply, reply
        raised = reply["raised"]
        assert isinstance(raised, dict)
        return raised

    def put(self, path: str, text: str | bytes) -> None:
        """A file in the work directory."""
        data = text if isinstance(text, bytes) else textwrap.dedent(text).encode()
        self.ask("put", path=path, data=data)

    def load(self, source: str | bytes, path: str = "solution.py", **fields: Any) -> dict[str, Any]:
        """Put and load a module; returns the whole report."""
        self.put(path, source)
        report = self.ask("load_module", path=path, **{"mode": "run", "forbid": [], **fields})
        assert isinstance(report, dict)
        return report

    def define(self, source: str) -> None:
        """Load a module that must load without any error."""
        report = self.load(source)
        assert report["errors"] == []

    def notebook(self, *sources: str, **fields: Any) -> list[dict[str, Any]]:
        """Load a notebook of these cells, numbered from 1."""
        cells = [{"number": n, "source": textwrap.dedent(text).strip("\n")} for n, text in enumerate(sources, 1)]
        self._notebooks += 1
        cell_s = fields.pop("cell_s", 60.0)
        name = f"notebook{self._notebooks if self._notebooks > 1 else ''}.ipynb"
        self.ask("begin_notebook", **{"path": name, **fields})
        return [self.ask("next_cell", cell=cell, cell_s=cell_s) for cell in cells]

    def call_fields(self, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The fields of a call by name."""
        return {"space": "student", "name": name, "args": list(args), "kwargs": kwargs}

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """What a student's function returns."""
        return self.ask("call", **self.call_fields(name, args, kwargs))

    def keep(self, name: str, *args: Any) -> wire.Ref:
        """What a student's function returns, kept in the box."""
        ref = self.ask("call", keep=True, **self.call_fields(name, args, {}))
        assert isinstance(ref, wire.Ref)
        return ref

    def call_raises(self, name: str, *args: Any, **fields: Any) -> dict[str, Any]:
        """What a student's function raises."""
        return self.raises("call", **self.call_fields(name, args, {}), **fields)


def forker_with(*preload: str) -> Iterator[Forker]:
    """A fork server, if the interpreter has these libraries."""
    if subprocess.run([PYTHON, "-c", f"import {', '.join(preload)}"], capture_output=True, check=False).returncode:
        pytest.skip(f"{PYTHON} lacks one of {', '.join(preload)}")
    forker = Forker(preload, PYTHON)
    yield forker
    forker.close()


def text_of(cell: dict[str, Any], name: str = "stdout") -> str:
    """What a cell printed."""
    return "".join(o["text"] for o in cell["outputs"] if o["output_type"] == "stream" and o["name"] == name)


def shown(cell: dict[str, Any], mime: str = "text/plain") -> list[Any]:
    """What a cell displayed, in one form."""
    return [o["data"][mime] for o in cell["outputs"] if mime in o.get("data", {})]
