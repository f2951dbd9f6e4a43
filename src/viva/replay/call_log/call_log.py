"""The call log of one submission: exchanges with its boxes, by the case of the test in which they took place."""

import hashlib
import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self

import msgpack

import viva.sandbox.guest.transport.wire as wire
from viva.model import untrusted
from viva.model.errors import BoxDied, BoxError, BoxTimeout, ProtocolViolation, UsageError

if TYPE_CHECKING:  # importing it loads the sandbox, which a live check does not need
    from viva.sandbox.host.ready_message import ReadyMessage

LOADING: Final = ""
"""The place of requests while a box is loaded; no case of a test has this name."""
MOST_BYTES: Final = 64 << 20
"""The most bytes of one call log before packing; a larger one is not kept, and its tests run again."""
WHOLE: Final = 64 << 10
"""A question of more bytes is kept as its digest, which can be compared but not read."""
DIGEST: Final = b"sha256:"
"""The prefix of a digest that replaces a question."""
FUNCTION: Final[dict[str, object]] = {"found": True, "callable": True, "kind": "function"}
"""The reply about a function whose name was in the reply to another question."""
ABOUT_NAMES: Final = frozenset({"find", "names"})
"""The operations that ask which names the submission has. Each is asked once, by the test that comes first."""
_FORMAT: Final = "viva call log 1"
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
    """One question and its result."""

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
    seeds: dict[str, int] = field(default_factory=dict)
    """The seeds of the box, by case."""
    too_large: bool = False
    """True if the log was too large, so that nothing was kept."""

    def to_bytes(self) -> bytes:
        """Return the bytes to store; empty if the log was too large to keep."""
        if self.too_large:
            return b""
        ready = self.ready_message
        said = None if ready is None else [
            ready.tier, dict(ready.layers), dict(ready.probes), list(ready.missing), dict(ready.versions)
        ]  # fmt: skip
        plain = {
            "format": _FORMAT,
            "hello": said,
            "loads": [[_plain(e) for e in load] for load in self.loads],
            "cases": {case: [_plain(e) for e in exchanges] for case, exchanges in self.cases.items()},
            "seeds": self.seeds,
        }
        return zlib.compress(msgpack.packb(plain, use_bin_type=True), 1)

    def updated(self, later: "CallLog", tests: Collection[str]) -> "CallLog":
        """Return this log, with the exchanges of some tests replaced by those of a later run.

        Args:
            later: the call log of the run in which they were asked.
            tests: their ids.
        """
        if self.too_large or later.too_large:
            return CallLog(too_large=True)
        kept = {case: said for case, said in self.cases.items() if case.partition("[")[0] not in tests}
        seeds = {**self.seeds, **later.seeds}
        return CallLog(
            self.ready_message or later.ready_message, self.loads or later.loads, {**kept, **later.cases}, seeds
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the call log that `to_bytes` stored.

        Raises:
            UsageError: the bytes are not a call log.
        """
        from viva.sandbox.host.ready_message import ReadyMessage

        try:
            unpacker = zlib.decompressobj()
            body = unpacker.decompress(data, 2 * MOST_BYTES)
            if unpacker.unconsumed_tail or not unpacker.eof:
                raise ValueError("it is too large, or cut short")
            plain = msgpack.unpackb(body, raw=False)
            if plain["format"] != _FORMAT:
                raise ValueError(f"its format is {plain['format']!r}")
            said = plain["hello"]
            ready_message = None if said is None else ReadyMessage(said[0], said[1], said[2], tuple(said[3]), said[4])
            loads = [[Exchange(*e) for e in load] for load in plain["loads"]]
            cases = {case: [Exchange(*e) for e in kept] for case, kept in plain["cases"].items()}
            return cls(ready_message, loads, cases, dict(plain["seeds"]))
        except (zlib.error, ValueError, KeyError, TypeError, IndexError) as error:
            raise UsageError(f"A call log cannot be read: {error}.") from None


def question_of(op: str, fields: Mapping[str, object]) -> bytes:
    """Return what was asked, without what may differ each time: the message, or its digest if it is large.

    Raises:
        TypeError: it cannot be sent.
        wire.TooLarge: it cannot be sent.
    """
    ignored = (*_NOT_ASKED, "more") if op in ABOUT_NAMES else _NOT_ASKED  # the first one asks for more names
    asked = {name: value for name, value in sorted(fields.items()) if name not in ignored}
    message = b"".join(bytes(part) for part in wire.dump({"op": op, **asked}))
    return message if len(message) <= WHOLE else DIGEST + hashlib.sha256(message).digest()


def brought(exchange: Exchange) -> Iterator[Exchange]:
    """Yield questions about further names that this exchange has answered: the first one brings all functions."""
    asked = wire.load(exchange.question)
    try:
        reply = exchange.answer()
    except (BoxError, wire.WireError):
        return
    found = reply.get("ok") if isinstance(reply, dict) else None
    for name in untrusted.rows(found.get("more")) if isinstance(found, dict) else ():
        if type(name) is str:
            reply_to_it = b"".join(map(bytes, wire.dump({"ok": FUNCTION})))
            yield Exchange(question_of(asked["op"], {"space": asked["space"], "name": name}), reply_to_it)


def is_about_names(question: bytes) -> bool:
    """Return whether the question asks which names the submission has."""
    try:
        return not question.startswith(DIGEST) and wire.load(question)["op"] in ABOUT_NAMES
    except wire.WireError:  # it passes functions or networks, which are read in boxes alone
        return False


def ending_of(error: BoxError) -> str:
    """Return the name of an ending; raise the error itself if a student's program did not cause it."""
    for name, kind in _ENDINGS.items():
        if type(error) is kind:
            return name
    raise error


def _plain(exchange: Exchange) -> list[object]:
    return [exchange.question, exchange.reply, exchange.ending, exchange.why]
