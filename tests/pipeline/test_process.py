"""The process of an examiner, and what it tells its parent when an error ends it early."""

import errno
import os
import socket
from typing import Any

import pytest

from viva.pipeline.process.failures import reporting_failures
from viva.pipeline.process.launch import launch
from viva.pipeline.process.messages import receive


def test_process_ends_with_its_parent() -> None:
    launched = launch()
    launched.sock.close()
    with launched.log:
        assert launched.process.wait(60) == 0


# --- what an examiner tells its parent when it ends early


MANY = os.strerror(errno.EMFILE)


def report(error: Exception) -> dict[str, Any]:
    """What the parent hears of an error that ends an examiner."""
    parent, examiner = socket.socketpair()
    with parent, examiner:
        with reporting_failures(examiner):
            raise error
        message = receive(parent)
    assert message is not None
    return message


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.EMFILE, MANY, "/lib/words.py"), MANY),
        (ImportError(f"/lib/words.so: cannot open shared object file: {MANY}"), MANY),
        (OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)), os.strerror(errno.ENOMEM)),
    ],
)
def test_what_the_machine_refused(error: Exception, said: str) -> None:
    text = f"The examiner ended, because this machine refused it something: {said}."
    assert report(error) == {"event": "fatal", "kind": "grader", "text": text}


@pytest.mark.parametrize("error", [ImportError("no module"), OSError(errno.ENOENT, "none"), ValueError(MANY)])
def test_own_fault_comes_with_its_place(error: Exception) -> None:
    message = report(error)
    assert message["kind"] == "grader"
    assert message["text"].startswith("The examiner failed.\nTraceback") and "test_process.py" in message["text"]
