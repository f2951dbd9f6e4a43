"""What an examiner tells its parent when it ends early."""

import errno
import os
import socket

import pytest

from viva.pipeline.process.failures import reporting_failures
from viva.pipeline.process.messages import receive

MANY = os.strerror(errno.EMFILE)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.EMFILE, MANY, "/lib/words.py"), MANY),
        (ImportError(f"/lib/words.so: cannot open shared object file: {MANY}"), MANY),
        (OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)), os.strerror(errno.ENOMEM)),
    ],
)
def test_what_the_machine_refused_is_said_in_a_sentence(error: Exception, said: str) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        with reporting_failures(theirs):
            raise error
        message = receive(ours)
    text = f"The examiner ended, because this machine refused it something: {said}."
    assert message == {"event": "fatal", "kind": "grader", "text": text}


@pytest.mark.parametrize("error", [ImportError("no module"), OSError(errno.ENOENT, "none"), ValueError(MANY)])
def test_what_is_our_own_fault_comes_with_its_place(error: Exception) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        with reporting_failures(theirs):
            raise error
        message = receive(ours)
    assert message is not None and message["kind"] == "grader"
    assert message["text"].startswith("The examiner failed.\nTraceback") and "test_failures.py" in message["text"]
