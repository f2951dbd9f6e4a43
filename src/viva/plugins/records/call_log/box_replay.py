"""Boxes that answer from a call log; a question that is not in it ends the case that asks it."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgpack

from viva.examiner.catalog import TestFunction
from viva.examiner.interceptor import Interceptor
from viva.model.box_source import AnyBox, BoxSource
from viva.model.errors import BoxDied, BoxError
from viva.plugins.records.call_log.call_log import (
    LOADING,
    NAME_OPERATIONS,
    CallLog,
    Exchange,
    answered_names,
    changed_tests,
    is_about_names,
    question_of,
)
from viva.sandbox.guest.transport.wire import WireError

if TYPE_CHECKING:
    from viva.sandbox.host.ready_message import ReadyMessage


class QuestionsChanged(BaseException):
    """The call log has no answer to this question; no test may catch this as an ordinary exception."""


class BoxReplay(Interceptor):
    """A source of boxes without a program: they repeat the recorded answers."""

    def __init__(self, call_log: CallLog, tests: Sequence[TestFunction]) -> None:
        self._call_log, self._tests = call_log, tests
        self._taken = 0
        self._next: defaultdict[str, int] = defaultdict(int)
        self._found: dict[bytes, Exchange] | None = None
        self.place: Callable[[], str] = lambda: LOADING
        """Returns the case of the running test."""
        self.changed: set[str] = set()
        """Cases that asked something else than was recorded."""
        self.other_load = False
        """Whether boxes are loaded in another way, which makes the call log useless."""

    def wrap_boxes(self, source: BoxSource, case_id: Callable[[], str]) -> BoxSource:
        """Return this source; it never takes a box of the given one."""
        self.place = case_id
        return self

    def output(self) -> bytes:
        """Return the tests that the call log could not answer; `unpack_changed` reads them."""
        return bytes(msgpack.packb(changed_tests(self._tests, self.changed, other_load=self.other_load)))

    def take(self) -> AnyBox:
        """Return the next of the recorded boxes."""
        from viva.sandbox.host.ready_message import ReadyMessage

        self._taken += 1
        self._next[LOADING] = 0
        return _ReplayedBox(self, self._call_log.ready_message or ReadyMessage("none"))

    def answer(self, op: str, fields: dict[str, object]) -> object:
        """Return the recorded answer, or raise the recorded error.

        Raises:
            BoxTimeout: the box ended in this way.
            BoxDied: the box ended in this way.
            ProtocolViolation: the box ended in this way.
            QuestionsChanged: the question was not recorded.
        """
        place, question = self.place(), question_of(op, fields)
        if "seed" in fields and fields["seed"] != self._call_log.seeds.get(place, fields["seed"]):
            raise self._is_changed(place, op)  # a test without a seed there has asked nothing itself
        exchange = self._expected(place)
        if op not in NAME_OPERATIONS and (exchange is None or exchange.question != question):
            self._pass_over_names(place)
            exchange = self._expected(place)
        if exchange is not None and exchange.question == question:
            self._next[place] += 1
        elif op in NAME_OPERATIONS and question in self._names():
            exchange = self._names()[question]
        elif place == LOADING and (loaded := self._in_another_load(question)) is not None:
            exchange = loaded
            self._next[place] += 1
        else:
            raise self._is_changed(place, op)
        try:
            return exchange.answer()
        except WireError as error:  # the reply could not be recorded
            raise self._is_changed(place, str(error)) from error

    def _is_changed(self, place: str, why: str) -> QuestionsChanged:
        """Remember the place where another question is asked than was recorded."""
        self.changed.add(place)
        self.other_load = self.other_load or place == LOADING
        return QuestionsChanged(why)

    def _names(self) -> dict[bytes, Exchange]:
        """Return the recorded look-ups of names in all tests: which test asks first depends on the others.

        Of several replies to one question the first brings the most names.
        """
        if self._found is None:
            asked = {e.question: e for e in reversed(self._call_log.names)}
            self._found = {more.question: more for e in asked.values() for more in answered_names(e)} | asked
        return self._found

    def _in_another_load(self, question: bytes) -> Exchange | None:
        """Return the exchange of another box: which box is the first to run a further file depends on the tests."""
        at = self._next[LOADING]
        loads = self._call_log.loads
        return next((load[at] for load in loads if at < len(load) and load[at].question == question), None)

    def _pass_over_names(self, place: str) -> None:
        """Skip recorded look-ups of names that the test no longer makes."""
        while (exchange := self._expected(place)) is not None and is_about_names(exchange.question):
            self._next[place] += 1

    def _expected(self, place: str) -> Exchange | None:
        if place == LOADING:  # a changed test may need one box more than were recorded
            kept = self._call_log.loads[: self._taken][-1] if self._call_log.loads else []
        else:
            kept = self._call_log.cases.get(place, [])
        at = self._next[place]
        return kept[at] if at < len(kept) else None


class _ReplayedBox:
    """One replayed box."""

    def __init__(self, replay: BoxReplay, ready_message: "ReadyMessage") -> None:
        self._replay = replay
        self.ready_message = ready_message
        self.alive = True
        self.counted_s, self.slept = 0.0, False

    def ask(self, op: str, *, timeout_s: float, **fields: Any) -> Any:
        if not self.alive:
            raise BoxDied("the box is closed")
        try:
            return self._replay.answer(op, fields)
        except BoxError:
            self.alive = False
            raise

    def kill(self) -> None:
        self.alive = False

    def close(self) -> None:
        self.alive = False
