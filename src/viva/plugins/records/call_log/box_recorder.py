"""Boxes whose exchanges are recorded."""

from collections.abc import Callable
from typing import Any

import viva.sandbox.guest.transport.wire as wire
from viva.examiner.interceptor import Interceptor
from viva.model.box_source import AnyBox, BoxSource
from viva.model.errors import BoxError
from viva.plugins.records.call_log.call_log import (
    LOADING,
    MAX_BYTES,
    NAME_OPERATIONS,
    CallLog,
    Exchange,
    ending_of,
    question_of,
)


class BoxRecorder(Interceptor):
    """A source of boxes that records their requests and replies."""

    def __init__(self) -> None:
        self.call_log = CallLog()
        self.place: Callable[[], str] = lambda: LOADING
        """Returns the case of the running test."""
        self._source: BoxSource | None = None
        self._left = MAX_BYTES

    def wrap_boxes(self, source: BoxSource, case_id: Callable[[], str]) -> BoxSource:
        """Return this source, which takes its boxes from the given one."""
        self._source, self.place = source, case_id
        return self

    def output(self) -> bytes:
        """Return the call log, unless it was too large; `CallLog.from_bytes` reads it."""
        return self.call_log.to_bytes()

    def take(self) -> AnyBox:
        """Return a ready box; see BoxSource."""
        assert self._source is not None  # `wrap_boxes` comes first
        box = self._source.take()
        if self.call_log.ready_message is None:
            self.call_log.ready_message = box.ready_message
        self.call_log.loads.append([])
        return _RecordedBox(box, self)

    def write(self, op: str, exchange: Exchange) -> None:
        """Add an exchange to the call log."""
        self._left -= len(exchange.question) + len(exchange.reply)
        if self._left < 0:
            self.call_log = CallLog(too_large=True, loads=[[]])
            return
        place = self.place()
        where = self.call_log.loads[-1] if place == LOADING else self.call_log.cases.setdefault(place, [])
        where.append(exchange)
        if op in NAME_OPERATIONS:
            self.call_log.names.append(exchange)


class _RecordedBox:
    """One recorded box."""

    def __init__(self, box: AnyBox, recorder: BoxRecorder) -> None:
        self._box, self._recorder = box, recorder
        self.kill, self.close = box.kill, box.close

    @property
    def ready_message(self) -> Any:
        return self._box.ready_message

    @property
    def alive(self) -> bool:
        return self._box.alive

    @property
    def counted_s(self) -> float:
        return self._box.counted_s

    @property
    def slept(self) -> bool:
        return self._box.slept

    def ask(self, op: str, *, timeout_s: float, **fields: Any) -> dict[str, Any]:
        question = question_of(op, fields)
        if "seed" in fields:
            self._recorder.call_log.seeds[self._recorder.place()] = fields["seed"]
        try:
            reply = self._box.ask(op, timeout_s=timeout_s, **fields)
        except BoxError as error:
            self._recorder.write(op, Exchange(question, ending=ending_of(error), why=str(error)))
            raise
        self._recorder.write(op, Exchange(question, _message(reply)))
        return reply


def _message(reply: object) -> bytes:
    """Return the reply as it came; empty, which no message is, if it cannot be sent a second time."""
    try:
        return b"".join(bytes(part) for part in wire.dump(reply))
    except (TypeError, wire.TooLarge):
        return b""
