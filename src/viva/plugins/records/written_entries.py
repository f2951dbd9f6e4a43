"""Unpack the entries of a stored score that are left to a marker; the others, most of the score, are not decoded."""

import zlib
from typing import Any, Final

import msgpack
import msgspec

from viva.model import Status
from viva.plugins.records.row_packing import SURROGATES, undamaged

_NEEDS_REVIEW: Final = Status.NEEDS_REVIEW.value


class _Score(msgspec.Struct):
    content_hash: str
    entries: list[msgspec.Raw]


class _Entry(msgspec.Struct):
    status: str
    rubric: str

    @property
    def is_left_to_marker(self) -> bool:
        return bool(self.rubric) and self.status == _NEEDS_REVIEW


_SCORE: Final = msgspec.msgpack.Decoder(_Score)
_ENTRY: Final = msgspec.msgpack.Decoder(_Entry)


def unpack_written(data: bytes) -> tuple[str, list[dict[str, Any]]]:
    """Return the content hash of a score, and its entries that are graded by hand as plain data of `entry_to_plain`.

    Args:
        data: what `pack_score` returned.

    Raises:
        UsageError: it is damaged.
    """
    with undamaged():
        try:
            score = _SCORE.decode(zlib.decompress(data))
            by_hand = [raw for raw in score.entries if _ENTRY.decode(raw).is_left_to_marker]
        except msgspec.MsgspecError as error:
            raise ValueError(str(error)) from None
        return score.content_hash, [msgpack.unpackb(raw, raw=False, unicode_errors=SURROGATES) for raw in by_hand]
