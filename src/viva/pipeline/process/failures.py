"""How an examiner tells its parent what went wrong."""

import socket
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from viva.model.errors import BoxUnavailable, GraderError, UsageError
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
    except Exception:
        text = f"The examiner failed.\n{traceback.format_exc()[-4000:]}"
        send(sock, {"event": "fatal", "kind": "grader", "text": text})
