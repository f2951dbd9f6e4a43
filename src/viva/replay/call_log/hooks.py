"""What the records add to the examiner: boxes whose exchanges are recorded or replayed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from viva.hooks import hookimpl

if TYPE_CHECKING:
    from viva.examiner.catalog import TestFunction
    from viva.model.box_source import BoxInterceptor

CALL_LOG: Final = "call_log"
"""The name of the interceptor that records exchanges with boxes, or replays them if it is given a call log."""


@hookimpl
def viva_box_interceptor(name: str, data: bytes, tests: "Sequence[TestFunction]") -> "BoxInterceptor | None":
    """Return a recorder, or a replay if there is a call log."""
    if name != CALL_LOG:
        return None
    from viva.replay.call_log.box_recorder import BoxRecorder
    from viva.replay.call_log.box_replay import BoxReplay
    from viva.replay.call_log.call_log import CallLog

    return BoxReplay(CallLog.from_bytes(data), tests) if data else BoxRecorder()
