"""How an examiner tells its parent what went wrong."""

import os
import socket
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from viva.model.errors import OF_THE_MACHINE, BoxUnavailable, GraderError, UsageError
from viva.pipeline.process.messages import send


@contextmanager
def reporting_failures(sock: socket.socket) -> Iterator[None]:
    """Tell the parent why this examiner ends early; a parent that is gone is not a failure."""
    try:
        yield
    except (UsageError, BoxUnavailable) as error:
        send(sock, {"event": "fatal", "kind": "usage", "text": str(error)})
    except (BrokenPipeError, ConnectionResetError):
        pass  # the parent is gone, so there is no reason to continue
    except GraderError as error:
        send(sock, {"event": "fatal", "kind": "grader", "text": str(error)})
    except Exception as error:
        if refused := _refused(error):
            text = f"The examiner ended, because this machine refused it something: {refused}."
        else:
            text = f"The examiner failed.\n{traceback.format_exc()[-4000:]}"
        send(sock, {"event": "fatal", "kind": "grader", "text": text})


def _refused(error: Exception) -> str:
    """Return what the machine is short of, if that is the cause; the import of a library says so only in its text."""
    texts = map(os.strerror, OF_THE_MACHINE)
    return next((text for text in texts if isinstance(error, OSError | ImportError) and text in str(error)), "")
