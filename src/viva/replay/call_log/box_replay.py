"""Boxes that answer from a call log; a question that is not in it ends the case that asks it."""

from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from viva.model.box_source import AnyBox, BoxSource
from viva.model.errors import BoxDied, BoxError, BoxUnavailable
from viva.replay.call_log.call_log import FIND, LOADING, CallLog, Exchange, is_about_names, question_of
from viva.sandbox.guest.transport.wire import WireError

if TYPE_CHECKING:
    from viva.sandbox.host.ready_message import ReadyMessage


class NoBoxes:
    """A source without boxes, where every answer comes from a call log."""

    def take(self, *_: object) -> Any:
        """No box.

        Raises:
            BoxUnavailable: always.
        """
        raise BoxUnavailable("nothing is run here; a call log was to answer")


class QuestionsChanged(BaseException):
    """The call log has no answer to what is asked now; no test is to catch this as an exception of its own."""


class Replaying:
    """A source of boxes in which nobody lives: they say what the student's said."""

    def __init__(self, call_log: CallLog) -> None:
        self._call_log = call_log
        self._taken = 0
        self._next: defaultdict[str, int] = defaultdict(int)
        self._found: dict[bytes, Exchange] | None = None
        self.place: Callable[[], str] = lambda: LOADING
        """Tells the case of the test that is running."""
        self.changed: set[str] = set()
        """Cases that asked something else than when the call log was made."""
        self.other_load = False
        """Whether boxes are loaded in another way: then nothing in the call log is of use."""

    def over(self, source: BoxSource) -> BoxSource:
        """This; no box of the source is ever taken."""
        return self

    def take(self) -> AnyBox:
        """The next box of those that there were."""
        from viva.sandbox.host.ready_message import ReadyMessage

        self._taken += 1
        self._next[LOADING] = 0
        return _Replayed(self, self._call_log.ready_message or ReadyMessage("none"))

    def answer(self, op: str, fields: dict[str, Any]) -> Any:
        """What was answered; raises what was raised.

        Raises:
            BoxTimeout, BoxDied, ProtocolViolation: the box ended then.
            QuestionsChanged: this was not asked then.
        """
        place, question = self.place(), question_of(op, fields)
        if "seed" in fields and fields["seed"] != self._call_log.seeds.get(place):
            raise self._is_changed(place, op)
        if op != FIND:
            self._pass_over_names(place)
        exchange = self._expected(place)
        if exchange is not None and exchange.question == question:
            self._next[place] += 1
        elif op == FIND and question in self._names():
            exchange = self._names()[question]
        else:
            raise self._is_changed(place, op)
        try:
            return exchange.answer()
        except WireError as error:  # it could not be kept
            raise self._is_changed(place, str(error)) from error

    def _is_changed(self, place: str, why: str) -> QuestionsChanged:
        """Remember where something else is asked than then."""
        self.changed.add(place)
        self.other_load = self.other_load or place == LOADING
        return QuestionsChanged(why)

    def _names(self) -> dict[bytes, Exchange]:
        """Where names were looked for, in any test: which test is the first to ask for one depends on the others."""
        if self._found is None:
            all_of_them = (exchange for kept in self._call_log.cases.values() for exchange in kept)
            self._found = {e.question: e for e in all_of_them if is_about_names(e.question)}
        return self._found

    def _pass_over_names(self, place: str) -> None:
        """Names that the test looked for then and need not look for now."""
        while (exchange := self._expected(place)) is not None and is_about_names(exchange.question):
            self._next[place] += 1

    def _expected(self, place: str) -> Exchange | None:
        if place == LOADING:  # a test that asks otherwise may need one box more than there were
            kept = self._call_log.loads[: self._taken][-1] if self._call_log.loads else []
        else:
            kept = self._call_log.cases.get(place, [])
        at = self._next[place]
        return kept[at] if at < len(kept) else None


class _Replayed:
    """One box of it."""

    def __init__(self, replaying: Replaying, ready_message: "ReadyMessage") -> None:
        self._replaying = replaying
        self.ready_message = ready_message
        self.alive = True

    def ask(self, op: str, *, timeout_s: float, **fields: Any) -> Any:
        if not self.alive:
            raise BoxDied("the box is closed")
        try:
            return self._replaying.answer(op, fields)
        except BoxError:
            self.alive = False
            raise

    def kill(self) -> None:
        self.alive = False

    def close(self) -> None:
        self.alive = False
