"""One question to a box and its result, as a call log keeps it."""

import hashlib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgpack

import viva.sandbox.guest.transport.wire as wire
from viva.examiner.fixtures.student_names import FUNCTION
from viva.model import untrusted
from viva.model.errors import BoxDied, BoxError, BoxTimeout, ProtocolViolation

MOST_BYTES: Final = 64 << 20
"""The most bytes of one call log before packing; a larger one is not kept, and its tests run again."""
WHOLE: Final = 64 << 10
"""A question of more bytes is kept as its digest, which can be compared but not read."""
DIGEST: Final = b"sha256:"
"""The prefix of a digest that replaces a question."""
ABOUT_NAMES: Final = frozenset({"find", "names"})
"""The operations that ask which names the submission has. Each is asked once, by the test that comes first."""
_MOST_PACKED: Final = 16 << 20
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


class _Packed:
    """What was packed before, by its digest: right answers to a test are the same in most submissions."""

    def __init__(self) -> None:
        self._kept: dict[bytes, bytes] = {}
        self._size = 0

    def of(self, body: bytes) -> bytes:
        """Return a text compressed."""
        digest = hashlib.sha256(body).digest()
        data = self._kept.get(digest)
        if data is None:
            data = self._kept[digest] = zlib.compress(body, 1)
            self._size += len(data)
            while self._size > _MOST_PACKED:
                self._size -= len(self._kept.pop(next(iter(self._kept))))
        return data


_packed: Final = _Packed()


def packed(exchanges: Sequence[Exchange]) -> bytes:
    """Return exchanges as bytes, which are the same for the same exchanges."""
    body = msgpack.packb([[e.question, e.reply, e.ending, e.why] for e in exchanges], use_bin_type=True)
    return _packed.of(body)


def unpacked(data: bytes) -> list[Exchange]:
    """Return the exchanges that `packed` stored.

    Raises:
        ValueError: the bytes are something else.
    """
    unpacker = zlib.decompressobj()
    try:
        body = unpacker.decompress(data, 2 * MOST_BYTES)
        if unpacker.unconsumed_tail or not unpacker.eof:
            raise ValueError("it is too large, or cut short")
        return [Exchange(*e) for e in msgpack.unpackb(body, raw=False)]
    except (zlib.error, TypeError) as error:
        raise ValueError(str(error)) from None


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
    reply_to_it = b"".join(map(bytes, wire.dump({"ok": FUNCTION})))
    for name in untrusted.rows(found.get("more")) if isinstance(found, dict) else ():
        if type(name) is str:
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
