"""What an examiner does for its parent: say which tests there are, grade what it is sent, say what went wrong."""

import socket
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from viva.examiner.asking import Asking
from viva.examiner.boxes.load import LoadReport
from viva.examiner.catalog import TestFunction
from viva.examiner.changed_tests import changed_tests
from viva.examiner.grader import Grader
from viva.examiner.outcome import Outcome
from viva.grading.training.checkpoints import Checkpoints
from viva.model import Entry, Status, Submission
from viva.model.errors import BoxUnavailable, GraderError, UsageError
from viva.model.plain import entry_to_plain, score_to_plain, submission_from_plain
from viva.pipeline.process.memory import Memory
from viva.pipeline.process.messages import receive, send
from viva.replay.call_log import CallLog, Recording, Replaying
from viva.replay.key_recording import KeyRecording, ReplayedKey

if TYPE_CHECKING:
    from viva.adapters.shared_grader import SharedGrader


@contextmanager
def telling_what_fails(sock: socket.socket) -> Iterator[None]:
    """Tell the parent why this examiner ends before its time; a parent that is gone is no failure."""
    try:
        yield
    except (UsageError, BoxUnavailable) as error:
        send(sock, {"event": "fatal", "kind": "usage", "text": str(error)})
    except (BrokenPipeError, ConnectionResetError):
        pass  # the parent is gone, and so is the reason to go on
    except GraderError as error:
        send(sock, {"event": "fatal", "kind": "grader", "text": str(error)})
    except Exception:
        send(
            sock,
            {"event": "fatal", "kind": "grader", "text": f"The examiner failed.\n{traceback.format_exc()[-4000:]}"},
        )


def serve_requests(
    sock: socket.socket, grader: "Grader | SharedGrader", lost: Callable[[], bool] = lambda: False
) -> None:
    """Say that all is ready, then grade what the parent sends until it closes the connection.

    Args:
        lost: whether no box can be made any more, though nobody here ended what makes them.

    Raises:
        GraderError: boxes were lost.
        OSError: the parent is gone.
    """
    key = grader.key if isinstance(grader, Grader) else None
    left_out = key.record.left_out if isinstance(key, ReplayedKey) else {}
    send(sock, {"event": "ready", "tests": [_describe(f) for f in grader.functions], "left_out": left_out})
    memory = Memory()
    while (request := receive(sock)) is not None:
        _grade(sock, grader, request, lost)
        memory.give_back()


def _grade(
    sock: socket.socket, grader: "Grader | SharedGrader", request: dict[str, Any], lost: Callable[[], bool]
) -> None:
    folder = request["checkpoints"]
    checkpoints = Checkpoints(Path(folder), grader.seeds.key("checkpoints")) if folder else None
    key_recording = KeyRecording() if request["key_record"] and isinstance(grader, Grader) else None
    call_log = _call_log(request["call_log"]) if isinstance(grader, Grader) else None
    loads: list[LoadReport] = []

    def tell(entry: Entry) -> None:
        if lost():  # the test may have made something else of it; the parent tries again with a fresh examiner
            raise GraderError("the fork server of its boxes has ended")
        send(sock, {"event": "entry", "entry": entry_to_plain(entry)})

    submission = submission_from_plain(request["submission"])
    asking = Asking(
        wanted=_wanted(request),
        on_entry=tell,
        record=request["record"],
        until_loss=request["until_loss"],
        call_s=request["call_s"],
        training=request["training"],
        on_progress=lambda text: send(sock, {"event": "progress", "text": text}),
        checkpoints=checkpoints,
        key_recording=key_recording,
        call_log=call_log,
        on_loaded=loads.append,
    )
    score, questions = grader.grade(submission, asking)
    kept: dict[str, Any] = {} if key_recording is None else {"book": key_recording.to_plain()}
    if checkpoints is not None:
        kept |= {"trained": checkpoints.trained, "remarks": checkpoints.notes}
    if isinstance(call_log, Recording):
        kept["call_log"] = call_log.call_log.to_bytes()
    elif call_log is not None:
        kept["changed"] = changed_tests(grader.functions, call_log)
    if request["notebook"] and loads and isinstance(grader, Grader):
        kept["notebook"] = _notebook(grader, submission, loads[0], replayed=isinstance(call_log, Replaying))
    send(sock, {"event": "score", "score": score_to_plain(score), "questions": questions, "kept": kept})


def _notebook(grader: Grader, submission: Submission, loaded: LoadReport, *, replayed: bool) -> bytes:
    """The executed notebook; of a load that ended its box, as far as it came."""
    from viva.examiner.executed import executed_notebook
    from viva.examiner.executed.stepwise import run_stepwise

    if loaded.failure is not None and not replayed:
        loaded = run_stepwise(grader.source, submission, grader.assignment, grader.inside)
    return executed_notebook(loaded, grader.assignment, submission.content_hash)


def _call_log(asked: bool | bytes) -> Recording | Replaying | None:
    """Writes the call log, or answers from one that was kept."""
    if isinstance(asked, bytes):
        return Replaying(CallLog.from_bytes(asked))
    return Recording() if asked else None


def _wanted(request: dict[str, Any]) -> Callable[[TestFunction], bool]:
    only, visible_only = request["only"], request["visible_only"]

    def wanted(function: TestFunction) -> bool:
        if visible_only and function.hidden:
            return False
        return only is None or bool(
            {function.test_id, function.test_id.split("::", 1)[-1], function.number} & set(only)
        )

    return wanted


def _describe(function: TestFunction) -> dict[str, Any]:
    """What the parent needs to finish a result when this process is gone."""
    from viva.examiner.points import case_of, entry_of

    outcome = Outcome(Status.GRADER_ERROR)
    return entry_to_plain(entry_of(function, [case_of(function, "", outcome, None, 0.0)], [outcome]))
