"""A connection over the loopback: who knows the token is let in, strangers are turned away."""

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from viva.sandbox.guest.transport import loopback


@pytest.fixture
def waiting() -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.communicate(b"\n")


def test_strangers_are_turned_away(monkeypatch: pytest.MonkeyPatch, waiting: "subprocess.Popen[bytes]") -> None:
    strangers: list[socket.socket] = []

    def visit(port: int, token: bytes) -> None:
        for said in (b"x" * loopback.TOKEN_BYTES, b"Z" + token, b"", token[:-1], token):
            end = socket.create_connection(("127.0.0.1", port))
            end.sendall(said)
            if len(said) < loopback.TOKEN_BYTES:
                end.shutdown(socket.SHUT_WR)
            strangers.append(end)

    monkeypatch.setattr(loopback, "_HELLO_S", 1.0)
    with loopback.Listener() as listener:
        visitor = threading.Thread(target=visit, args=(listener.port, listener.token))
        visitor.start()
        accepted = listener.accept(waiting)
        visitor.join()
    *turned_away, known = strangers
    known.sendall(b"wire")
    assert accepted.recv(4) == b"wire"
    for stranger in turned_away:
        stranger.settimeout(60)
        assert _is_closed(stranger)
    for end in (*strangers, accepted):
        end.close()


def _is_closed(end: socket.socket) -> bool:
    try:
        return end.recv(1) == b""
    except ConnectionResetError:  # what it had sent was not read to the end
        return True


def test_trickled_token_holds_nobody_up(monkeypatch: pytest.MonkeyPatch, waiting: "subprocess.Popen[bytes]") -> None:
    monkeypatch.setattr(loopback, "_HELLO_S", 0.3)  # of the minute that all of it may take
    done = threading.Event()
    with loopback.Listener() as listener:
        slow = socket.create_connection(("127.0.0.1", listener.port))

        def drip() -> None:
            while not done.wait(0.1):
                try:
                    slow.send(b"x")
                except OSError:
                    return

        threading.Thread(target=drip, daemon=True).start()
        began = time.monotonic()
        honest = loopback.connect(listener.port, listener.token)
        accepted = listener.accept(waiting)
        assert time.monotonic() - began < loopback._CONNECT_S / 2
    done.set()
    for end in (slow, honest, accepted):
        end.close()


def test_process_that_ends_before_it_connects() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    with loopback.Listener() as listener, pytest.raises(ConnectionError, match="did not connect"):
        listener.accept(ended)


def test_process_ends_with_its_input() -> None:
    script = f"import sys; sys.path.insert(0, {str(Path(loopback.__file__).parent)!r}); import loopback as l\n"
    script += "print(len(l.read_token()), flush=True); import os; os._exit = os.read = None; l.end_with(l.keep_input())"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(b"t" * 32)
        process.stdin.flush()
        assert process.stdout.readline() == b"32\n"
        process.stdin.close()
        assert process.wait(60) == 0
