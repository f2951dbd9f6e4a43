"""Unpack the entries of a stored score that are left to a marker."""

import zlib
from typing import Any, Final

import msgpack

from viva.model import Status
from viva.plugins.records.row_packing import SURROGATES, undamaged

_NEEDS_REVIEW: Final = Status.NEEDS_REVIEW.value


def unpack_written(data: bytes) -> tuple[str, list[dict[str, Any]]]:
    """Return the content hash of a score, and its entries that are graded by hand as plain data of `to_plain`.

    Args:
        data: what `pack_score` returned.

    Raises:
        UsageError: it is damaged.
    """
    with undamaged():
        score = msgpack.unpackb(zlib.decompress(data), raw=False, unicode_errors=SURROGATES)
        by_hand = [each for each in score["entries"] if each["rubric"] and each["status"] == _NEEDS_REVIEW]
        return score["content_hash"], by_hand
