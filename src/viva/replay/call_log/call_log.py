"""The call log of one submission: exchanges with its boxes, by the case of the test in which they took place."""

import hashlib
from collections.abc import Collection, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self

import msgpack

from viva.model.case_ids import test_of
from viva.model.errors import UsageError
from viva.replay.call_log.exchange import Exchange, packed, unpacked

if TYPE_CHECKING:  # importing it loads the sandbox, which a live check does not need
    from viva.sandbox.host.ready_message import ReadyMessage

LOADING: Final = ""
"""The place of requests while a box is loaded; no case of a test has this name."""
_FORMAT: Final = "viva call log 2"
_UNREADABLE: Final = "A call log cannot be read: it is damaged, or another version of viva has written it."


class Cases(MutableMapping[str, list[Exchange]]):
    """The exchanges of each case, in the order of the cases; packed ones are unpacked when they are read."""

    def __init__(self, packed_cases: Mapping[str, bytes] | None = None) -> None:
        self._cases: dict[str, bytes | list[Exchange]] = dict(packed_cases or {})

    def __getitem__(self, case: str) -> list[Exchange]:
        """Return the exchanges of a case.

        Raises:
            UsageError: they cannot be unpacked.
        """
        kept = self._cases[case]
        if isinstance(kept, bytes):
            try:
                kept = self._cases[case] = unpacked(kept)
            except ValueError:
                raise UsageError(_UNREADABLE) from None
        return kept

    def __setitem__(self, case: str, exchanges: list[Exchange]) -> None:
        self._cases[case] = exchanges

    def __delitem__(self, case: str) -> None:
        del self._cases[case]

    def __iter__(self) -> Iterator[str]:
        return iter(self._cases)

    def __len__(self) -> int:
        return len(self._cases)

    def packed(self, case: str) -> bytes:
        """Return the exchanges of a case as `packed` gives them."""
        kept = self._cases[case]
        return kept if isinstance(kept, bytes) else packed(kept)

    def updated(self, later: "Cases", tests: Collection[str]) -> "Cases":
        """Return these cases with those of some tests replaced by later ones."""
        kept = {case: said for case, said in self._cases.items() if test_of(case) not in tests}
        made = Cases()
        made._cases = {**kept, **later._cases}
        return made


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
    readers: set[str] = field(default_factory=set)
    """The cases that read files, answers or outputs of the submission, which are not in this log."""
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
            "ready": said,
            "loads": [packed(load) for load in self.loads],
            "names": packed(self.names),
            "cases": {case: self.cases.packed(case) for case in self.cases},
            "seeds": self.seeds,
            "readers": sorted(self.readers),
        }
        data: bytes = msgpack.packb(plain, use_bin_type=True)
        return data

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the call log that `to_bytes` stored.

        Raises:
            UsageError: the bytes are not a call log.
        """
        from viva.sandbox.host.ready_message import ReadyMessage

        try:
            plain = msgpack.unpackb(data, raw=False)
            if plain["format"] != _FORMAT:
                raise ValueError(plain["format"])
            said = plain["ready"]
            ready_message = None if said is None else ReadyMessage(said[0], said[1], said[2], tuple(said[3]), said[4])
            loads = [unpacked(load) for load in plain["loads"]]
            names, cases = unpacked(plain["names"]), Cases(plain["cases"])
            return cls(ready_message, loads, cases, dict(plain["seeds"]), names, set(plain["readers"]))
        except (ValueError, KeyError, TypeError, IndexError):
            raise UsageError(_UNREADABLE) from None

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
            {*(case for case in self.readers if test_of(case) not in tests), *later.readers},
        )

    def learnt(self, test_id: str) -> bytes | None:
        """Return a digest of all that a test has learnt about the submission; None if part of it is not in this log."""
        if any(test_of(case) == test_id for case in self.readers):
            return None
        digest = hashlib.sha256()
        for case in self.cases:
            if test_of(case) == test_id:
                kept = self.cases.packed(case)
                digest.update(b"%d %d " % (len(case.encode()), len(kept)) + case.encode() + kept)
        return digest.digest()
