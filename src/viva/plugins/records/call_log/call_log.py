"""The call log of one submission: exchanges with its boxes, by the case of the test in which they took place."""

from collections.abc import Collection, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self

import msgpack

from viva.model.errors import UsageError
from viva.model.score import test_of
from viva.plugins.records.call_log.exchange import Exchange, packed, unpacked

if TYPE_CHECKING:  # importing it loads the sandbox, which a live check does not need
    from viva.sandbox.host.ready_message import ReadyMessage

LOADING: Final = ""
"""The place of requests while a box is loaded; no case of a test has this name."""
_FORMAT: Final = "viva call log 2"
_UNREADABLE: Final = "A call log cannot be read: it is damaged, or another version of viva has written it."


class Cases(MutableMapping[str, list[Exchange]]):
    """The exchanges of each case, in the order of the cases; packed ones are unpacked when they are read."""

    def __init__(self, packed_cases: Mapping[str, bytes] | None = None) -> None:
        """Begin with packed cases, which are not changed."""
        self._packed = dict(packed_cases or {})
        self._cases: dict[str, list[Exchange] | None] = dict.fromkeys(self._packed)

    def __getitem__(self, case: str) -> list[Exchange]:
        """Return the exchanges of a case.

        Raises:
            UsageError: they cannot be unpacked.
        """
        exchanges = self._cases[case]
        if exchanges is None:
            try:
                exchanges = self._cases[case] = unpacked(self._packed[case])
            except ValueError:
                raise UsageError(_UNREADABLE) from None
        return exchanges

    def __setitem__(self, case: str, exchanges: list[Exchange]) -> None:
        self._cases[case] = exchanges
        self._packed.pop(case, None)

    def __delitem__(self, case: str) -> None:
        del self._cases[case]
        self._packed.pop(case, None)

    def __contains__(self, case: object) -> bool:
        return case in self._cases

    def __iter__(self) -> Iterator[str]:
        return iter(self._cases)

    def __len__(self) -> int:
        return len(self._cases)

    def packed(self, case: str) -> bytes:
        """Return the exchanges of a case as `packed` gives them."""
        return self._packed.get(case) or packed(self[case])

    def updated(self, later: "Cases", tests: Collection[str]) -> "Cases":
        """Return these cases with those of some tests replaced by later ones."""
        made = Cases({case: self.packed(case) for case in self if test_of(case) not in tests})
        made.add(later)
        return made

    def add(self, others: "Cases") -> None:
        """Add further cases; one that is there already is replaced."""
        for case in others:
            self._packed[case], self._cases[case] = others.packed(case), None


@dataclass(slots=True)
class CallLog:
    """All exchanges with the boxes of one submission that have no GPU."""

    ready_message: "ReadyMessage | None" = None
    """What the first box reported about itself; None if none was taken."""
    loads: list[list[Exchange]] = field(default_factory=list)
    """How each box in turn was loaded."""
    cases: Cases = field(default_factory=Cases)
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
        said = None if ready is None else [
            ready.tier, dict(ready.layers), dict(ready.probes), list(ready.missing), dict(ready.versions)
        ]  # fmt: skip
        head = {
            "ready": said,
            "loads": [packed(load) for load in self.loads],
            "names": packed(self.names),
            "seeds": self.seeds,
        }
        return join(msgpack.packb(head, use_bin_type=True), {case: self.cases.packed(case) for case in self.cases})

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the call log that `to_bytes` stored.

        Raises:
            UsageError: the bytes are not a call log.
        """
        from viva.sandbox.host.ready_message import ReadyMessage

        try:
            packed_head, cases = split(data)
            head = msgpack.unpackb(packed_head, raw=False)
            said = head["ready"]
            ready_message = None if said is None else ReadyMessage(said[0], said[1], said[2], tuple(said[3]), said[4])
            loads, names = [unpacked(load) for load in head["loads"]], unpacked(head["names"])
            return cls(ready_message, loads, Cases(cases), dict(head["seeds"]), names)
        except (ValueError, KeyError, TypeError, IndexError):
            raise UsageError(_UNREADABLE) from None

    def add(self, other: "CallLog") -> None:
        """Add what other tests have asked the same submission in boxes of their own."""
        self.ready_message = self.ready_message or other.ready_message
        self.loads += other.loads
        self.cases.add(other.cases)
        self.seeds.update(other.seeds)
        self.names += other.names

    def updated(self, later: "CallLog", tests: Collection[str]) -> "CallLog":
        """Return this log, with the exchanges of some tests replaced by those of a later run.

        Args:
            later: the call log of the run in which they were asked.
            tests: their ids.
        """
        if self.too_large or later.too_large:
            return CallLog(too_large=True)
        return CallLog(
            self.ready_message or later.ready_message,
            self.loads or later.loads,
            self.cases.updated(later.cases, tests),
            {**self.seeds, **later.seeds},
            [*self.names, *later.names],
        )


def split(data: bytes) -> tuple[bytes, dict[str, bytes]]:
    """Return the parts of a call log's bytes: everything but the cases, and each case.

    Raises:
        ValueError: the bytes are not a call log.
    """
    parts = msgpack.unpackb(data, raw=False)
    if not isinstance(parts, list) or len(parts) != 3 or parts[0] != _FORMAT:  # as `join` makes it
        raise ValueError("not a call log")
    return parts[1], parts[2]


def join(head: bytes, cases: Mapping[str, bytes]) -> bytes:
    """Return the call log of which these are the parts."""
    data: bytes = msgpack.packb([_FORMAT, head, cases], use_bin_type=True)
    return data
