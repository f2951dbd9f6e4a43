"""What is unpacked for markers is what the whole score says of these entries, whatever the other entries are."""

import zlib
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import samples
from viva.model import Case, Entry, Status
from viva.model.errors import UsageError
from viva.model.plain import entry_to_plain
from viva.records.row_packing import pack_score, unpack_score
from viva.records.written_entries import unpack_written

TEXTS = st.text(st.characters(codec=None), max_size=20)
"""Of students: lone surrogates among them."""
POINTS = st.fractions(0, 9, max_denominator=4)
CASES = st.builds(Case, TEXTS, st.sampled_from(Status), POINTS, POINTS, TEXTS, TEXTS, st.floats(0, 9))
ENTRIES = st.builds(
    Entry, st.text(max_size=5), TEXTS, st.just("1"), st.just("visible"), st.sampled_from(Status), POINTS, POINTS,
    st.lists(CASES, max_size=3).map(tuple), written=TEXTS, rubric=st.sampled_from(["", "", "2.1", "é 3"]),
)  # fmt: skip


@given(st.lists(ENTRIES, max_size=6))
def test_entries_for_markers_are_those_of_the_whole_score(entries: list[Entry]) -> None:
    packed = pack_score(replace(samples.score(), entries=tuple(entries)))
    whole = unpack_score(packed)
    by_hand = [e for e in whole.entries if e.rubric and e.status is Status.NEEDS_REVIEW]
    assert unpack_written(packed) == (whole.content_hash, [entry_to_plain(entry) for entry in by_hand])


@pytest.mark.parametrize("damage", [lambda data: data[:-4], lambda _: b"", lambda _: zlib.compress(b"\x81\xa1a\x01")])
def test_a_damaged_score_is_reported(damage: Callable[[bytes], bytes]) -> None:
    written = Entry("t", "n", "1", "visible", Status.NEEDS_REVIEW, Fraction(0), Fraction(1), (), rubric="2.1")
    packed = pack_score(replace(samples.score(), entries=(written,)))
    with pytest.raises(UsageError, match="A row of the records is damaged"):
        unpack_written(damage(packed))
