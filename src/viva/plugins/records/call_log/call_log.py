"""The call log of one submission: exchanges with its boxes, by the case of the test in which they took place."""

import hashlib
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Self

import msgpack

import viva.sandbox.guest.transport.wire as wire
from viva.examiner.catalog import TestFunction, resolve
from viva.examiner.fixtures.student_names import FUNCTION
from viva.model import untrusted
from viva.model.errors import BoxDied, BoxError, BoxTimeout, ProtocolViolation, UsageError
from viva.model.score import test_of

if TYPE_CHECKING:  # importing it loads the sandbox, which a live check does not need
    from viva.sandbox.host.ready_message import ReadyMessage

LOADING: Final = ""
"""The place of requests while a box is loaded; no case of a test has this name."""
MAX_BYTES: Final = 64 << 20
"""The most bytes of one call log before packing; a larger one is not kept, and its tests run again."""
DIGEST: Final = b"sha256:"
"""The prefix of a digest that replaces a question."""
NAME_OPERATIONS: Final = frozenset({"find", "names"})
"""The operations that ask which names the submission has. Each is asked once, by the test that comes first."""
_MAX_QUESTION_BYTES: Final = 64 << 10
"""A question of more bytes is kept as its digest, which can be compared but not read."""
_FORMAT: Final = "viva call log 3"
_NOT_ASKED: Final = ("soft_s", "release", "seed")
"""Fields of a request that are not part of the question: how long it may take, what is not needed any more, and the
seed of the test, which travels with its first question, whichever that is."""
_ENDINGS: Final[Mapping[str, type[BoxError]]] = {
    "timeout": BoxTimeout,
    "died": BoxDied,
    "violation": ProtocolViolation,
}


@dataclass(frozen=True, slots=True)
class Exchange:
    """One question to a box and its result."""

    question: bytes
    """The question, as `question_of` returns it."""
    reply: bytes = b""
    """The message that came back."""
    ending: str = ""
    """How the box ended instead: "timeout", "died" or "violation"."""
    why: str = ""

    def answer(self) -> object:
        """Return what the box replied.

        Raises:
            BoxTimeout: the box ended in this way instead.
            BoxDied: the box ended in this way instead.
            ProtocolViolation: the box ended in this way instead.
        """
        if self.ending:
            raise _ENDINGS[self.ending](self.why)
        return wire.load(self.reply)


@dataclass(slots=True)
class CallLog:
    """All exchanges with the boxes of one submission that have no GPU."""

    ready_message: "ReadyMessage | None" = None
    """What the first box reported about itself; None if none was taken."""
    loads: list[list[Exchange]] = field(default_factory=list)
    """How each box in turn was loaded."""
    cases: dict[str, list[Exchange]] = field(default_factory=dict)
    """The exchanges of each case of a test."""
    seeds: dict[str, int] = field(default_factory=dict)
    """The seeds of the box, by case."""
    names: list[Exchange] = field(default_factory=list)
    """Those exchanges of all cases that asked which names the submission has, in their order."""
    too_large: bool = False
    """True if the log was too large, so that nothing was kept."""

    def to_bytes(self) -> bytes:
        """Return the bytes to store; empty if the log was too large to keep."""
        if self.too_large:
            return b""
        ready = self.ready_message
        reported = None
        if ready is not None:
            missing, versions = list(ready.missing), dict(ready.versions)
            reported = [ready.tier, dict(ready.layers), dict(ready.probes), missing, versions]
        plain = {
            "format": _FORMAT,
            "ready": reported,
            "loads": [_to_plain(load) for load in self.loads],
            "cases": {case: _to_plain(exchanges) for case, exchanges in self.cases.items()},
            "seeds": self.seeds,
            "names": _to_plain(self.names),
        }
        return zlib.compress(msgpack.packb(plain, use_bin_type=True), 1)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the call log that `to_bytes` stored.

        Raises:
            UsageError: the bytes are not a call log.
        """
        from viva.sandbox.host.ready_message import ReadyMessage

        try:
            unpacker = zlib.decompressobj()
            plain = msgpack.unpackb(unpacker.decompress(data, 4 * MAX_BYTES), raw=False)
            if plain["format"] != _FORMAT:
                raise ValueError("another format")
            ready_message = None
            if plain["ready"] is not None:
                tier, layers, probes, missing, versions = plain["ready"]
                ready_message = ReadyMessage(tier, layers, probes, tuple(missing), versions)
            cases = {case: _from_plain(exchanges) for case, exchanges in plain["cases"].items()}
            loads = [_from_plain(load) for load in plain["loads"]]
            return cls(ready_message, loads, cases, plain["seeds"], _from_plain(plain["names"]))
        except (ValueError, KeyError, TypeError, zlib.error):
            raise UsageError(
                "A call log cannot be read: it is damaged, or another version of viva has written it."
            ) from None

    def replace_tests(self, later: "CallLog", tests: Collection[str]) -> "CallLog":
        """Return this log, with the exchanges of some tests replaced by those of a later run.

        Args:
            later: the call log of the run in which they were asked.
            tests: their ids.
        """
        if self.too_large or later.too_large:
            return CallLog(too_large=True)
        kept = {case: exchanges for case, exchanges in self.cases.items() if test_of(case) not in tests}
        return CallLog(
            self.ready_message or later.ready_message,
            self.loads or later.loads,
            {**kept, **later.cases},
            {**self.seeds, **later.seeds},
            [*self.names, *later.names],
        )


def _to_plain(exchanges: Sequence[Exchange]) -> list[list[Any]]:
    return [[e.question, e.reply, e.ending, e.why] for e in exchanges]


def _from_plain(plain: list[list[Any]]) -> list[Exchange]:
    return [Exchange(*fields) for fields in plain]


def question_of(op: str, fields: Mapping[str, object]) -> bytes:
    """Return what was asked, without what may differ each time: the message, or its digest if it is large.

    Raises:
        TypeError: it cannot be sent.
        wire.TooLarge: it cannot be sent.
    """
    ignored = (*_NOT_ASKED, "more") if op in NAME_OPERATIONS else _NOT_ASKED  # the first one asks for more names
    asked = {name: value for name, value in sorted(fields.items()) if name not in ignored}
    message = b"".join(bytes(part) for part in wire.dump({"op": op, **asked}))
    return message if len(message) <= _MAX_QUESTION_BYTES else DIGEST + hashlib.sha256(message).digest()


def is_about_names(question: bytes) -> bool:
    """Return whether the question asks which names the submission has."""
    try:
        return not question.startswith(DIGEST) and wire.load(question)["op"] in NAME_OPERATIONS
    except wire.WireError:  # it passes functions or networks, which are read in boxes alone
        return False


def answered_names(exchange: Exchange) -> Iterator[Exchange]:
    """Yield questions about further names that this exchange has answered: the first one brings all functions."""
    asked = wire.load(exchange.question)
    try:
        reply = exchange.answer()
    except (BoxError, wire.WireError):
        return
    found = reply.get("ok") if isinstance(reply, dict) else None
    reply_to_it = b"".join(map(bytes, wire.dump({"ok": FUNCTION})))
    for name in untrusted.rows(found.get("more")) if isinstance(found, dict) else ():
        if type(name) is str:
            yield Exchange(question_of(asked["op"], {"space": asked["space"], "name": name}), reply_to_it)


def ending_of(error: BoxError) -> str:
    """Return the name of an ending; raise the error itself if a student's program did not cause it."""
    for name, kind in _ENDINGS.items():
        if type(error) is kind:
            return name
    raise error


def changed_tests(functions: Sequence[TestFunction], changed_cases: Collection[str], *, other_load: bool) -> list[str]:
    """Return the ids of tests that a call log could not answer completely, and of those that depend on them.

    Args:
        functions: all tests, in their order.
        changed_cases: cases that asked something else than was recorded.
        other_load: whether boxes were loaded in another way, so that no answer can be used.
    """
    tests = {test_of(case) for case in changed_cases}
    changed: list[str] = []
    for function in functions:
        needs = {resolve(name, function, functions).test_id for name in function.depends}
        if other_load or function.gpu is not None or function.test_id in tests or needs & {*changed}:
            changed.append(function.test_id)
    return changed


def unpack_changed(data: bytes) -> list[str]:
    """Return the ids of the changed tests; a replay returns them packed as its output."""
    return list(msgpack.unpackb(data))
