"""What markers say is kept wholly or not at all, once, in an order in which no one who reads misses anything."""

import multiprocessing
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.prose import ALAN, GRACE, WHY, place, said
from viva.model.errors import UsageError
from viva.model.hand_grading import APPEAL, SECOND, SETTLED, Judgement, Place, Review
from viva.plugins.records.hand_grading import Changed, append, history, latest_rows, rows_about, since
from viva.plugins.records.hand_grading.decision_rows import make_storable
from viva.plugins.records.store import Records

PLACES = [place(content_hash) for content_hash in ("00", "01", "02")]


def test_judgement_comes_back(records: Records) -> None:
    judgement = Judgement(
        ("why", "one"), Fraction(-1, 3), "Well argued, Ünal.", True, Fraction(5, 3), Fraction(4), "Yes."
    )
    (row,) = append(records, "small", "a1", [(place(), judgement)], WHY)
    assert (row.place, row.judgement, row.action, row.by, row.why, row.undoes) == (
        place(), judgement, "a1", "grace", "we have talked about it", "",
    )  # fmt: skip
    assert since(records, "small", 0) == [row] == history(records, "small", "00", "2.1")
    assert since(records, "other", 0) == history(records, "small", "00", "2.2") == since(records, "small", row.id) == []


def test_rows_of_an_action_keep_their_order(records: Records) -> None:
    many = [(place(f"{n:04}"), said(n % 5)) for n in range(1201)]
    rows = append(records, "small", "all", many, GRACE)
    assert [(row.place, row.judgement) for row in rows] == many and {row.at for row in rows} == {rows[0].at}
    assert [row.id for row in rows] == sorted({row.id for row in rows})
    assert (
        rows_about(records, "small", [each.content_hash for each, _ in many]) == rows == latest_rows(records, "small")
    )
    assert append(records, "small", "nothing", [], GRACE) == []


def test_request_sent_twice(records: Records) -> None:
    first = append(records, "small", "a1", [(place(), said(3))], GRACE, seen={place(): 0})
    assert append(records, "small", "a1", [(place(), said(3))], GRACE, seen={place(): 0}) == first
    assert append(records, "other", "a1", [(place(), said(3))], GRACE)[0].id > first[0].id
    assert since(records, "small", 0) == first


def test_latest_of_each_place(records: Records) -> None:
    append(records, "small", "a1", [(place(), said(1)), (place(question="2.2"), said(1))], GRACE)
    append(records, "small", "a2", [(place(), said(2)), (place(round=SECOND), said(4))], ALAN)
    append(records, "small", "a3", [(place(kind=SETTLED), said(3))], WHY)
    for number in (4, 5):
        append(records, "small", f"a{number}", [(place(kind=APPEAL), Judgement())], WHY)
    append(records, "other", "a6", [(place(), said(0))], GRACE)
    latest = latest_rows(records, "small")
    assert [row.action for row in latest] == ["a1", "a2", "a2", "a3", "a4", "a5"]
    assert [row.judgement.earned for row in latest] == [1, 2, 4, 3, 0, 0]
    assert [row.action for row in history(records, "small", "00", "2.1")] == ["a1", "a2", "a2", "a3", "a4", "a5"]


def test_change_of_another_marker_is_kept(records: Records) -> None:
    (old,) = append(records, "small", "a1", [(place(), said(1))], GRACE)
    (now,) = append(records, "small", "a2", [(place(), said(2))], ALAN, seen={place(): old.id})
    before = since(records, "small", 0)
    for seen in (0, old.id, now.id + 7):
        group = [(place("01"), said(4)), (place(), said(3))]
        with pytest.raises(Changed, match=r"changed in the meantime by alan, and your change was not saved") as caught:
            append(records, "small", "a3", group, GRACE, seen={place("01"): 0, place(): seen})
        assert caught.value.rows == (now,)
    assert since(records, "small", 0) == before
    assert append(records, "small", "a3", [(place(), said(3))], GRACE, seen={place(): now.id})
    other_rooms = {place(round=SECOND): 0, place(question="2.2"): 0, place(kind=SETTLED): 0}
    assert append(records, "small", "a4", [(place(round=SECOND), said(3))], ALAN, seen=other_rooms)


@pytest.mark.parametrize(
    ("kind", "sentence"), [(SETTLED, "overrides the markers and needs a reason"), (APPEAL, "needs its text")]
)
def test_settlement_and_appeal_need_a_reason(records: Records, kind: str, sentence: str) -> None:
    for why in ("", " \n"):
        with pytest.raises(UsageError, match=sentence):
            append(records, "small", "a1", [(place("01"), said(3)), (place(kind=kind), said(3))], replace(WHY, why=why))
    assert since(records, "small", 0) == []


@pytest.mark.parametrize("wrong", [replace(place(), round=0), replace(place(kind=SETTLED), round=1)])
def test_wrong_round(records: Records, wrong: Place) -> None:
    with pytest.raises(ValueError, match="marks have a round from 1, other kinds have 0"):
        append(records, "small", "a1", [(wrong, said(3))], WHY)
    assert since(records, "small", 0) == []


def test_any_text(records: Records) -> None:
    """A browser may send what no database takes: NUL, and halves of characters."""
    judgement = said(comment="a\0b\ud83d c\udc4d", told="\ud83d\udc4d")
    (row,) = append(records, "small", "a\0", [(place(), judgement)], replace(WHY, why="\0"))
    assert (row.judgement.comment, row.judgement.told, row.why) == ("a\ufffdb\ufffd c\ufffd", "\U0001f44d", "\ufffd")
    assert append(records, "small", "a\0", [(place(), judgement)], WHY) == [row]


@given(st.text(st.characters(codec=None)))
def test_storable_text(text: str) -> None:
    kept = make_storable(text)
    assert b"\0" not in kept.encode()
    if "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text):
        assert kept == text


def test_row_numbers_are_never_given_again(records: Records) -> None:
    """Else whoever asks for what came since that number would miss the next row."""
    (row,) = append(records, "small", "a1", [(place(), said())], GRACE)
    with records.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM reviews")
    assert append(records, "small", "a2", [(place(), said())], GRACE)[0].id > row.id


def _mark(url: str, folder: str, marker: int) -> None:
    """Marks in groups, among them actions that another process does too."""
    with Records.open(url, Path(folder)) as records:
        for n in range(30):
            append(records, "small", f"{marker} {n}", [(each, said(marker)) for each in PLACES], GRACE)
            append(records, "small", f"shared {n}", [(each, said(4)) for each in PLACES], ALAN)


def _count(url: str, folder: str, marker: int) -> None:
    """Adds one to what stands, thirty times."""
    with Records.open(url, Path(folder)) as records:
        done = 0
        while done < 30:
            last = next((row for row in latest_rows(records, "small") if row.place == place()), None)
            number, points = (last.id, int(last.judgement.earned)) if last else (0, 0)
            row = (place(), said(points + 1))
            try:
                append(records, "small", f"{marker} {done}", [row], GRACE, seen={place(): number})
            except Changed:
                continue
            done += 1


def _at_once(work: Callable[[str, str, int], None], url: str, folder: Path) -> list[Review]:
    """Two processes write; what this one sees of it, by asking for what is new until they have ended."""
    Records.open(url, folder).close()
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=work, args=(url, str(folder), number)) for number in (1, 2)]
    for writer in writers:
        writer.start()
    seen: list[Review] = []
    with Records.open(url, folder) as records:
        alive = True
        while alive:
            alive = any(writer.is_alive() for writer in writers)
            seen += since(records, "small", seen[-1].id if seen else 0)
        for writer in writers:
            writer.join(120)
        assert [writer.exitcode for writer in writers] == [0, 0]
        seen += since(records, "small", seen[-1].id)
        assert since(records, "small", 0) == seen, "nothing was missed"
    return seen


@pytest.mark.long
def test_two_markers_and_a_reader(url: str, tmp_path: Path) -> None:
    seen = _at_once(_mark, url, tmp_path)
    actions = [row.action for row in seen]
    assert len(seen) == 3 * 30 * len(PLACES) and set(actions[:: len(PLACES)]) == set(actions)
    assert len(set(actions)) == 90, "each group stands together, and once"


@pytest.mark.long
def test_two_markers_never_overwrite_each_other(url: str, tmp_path: Path) -> None:
    assert [row.judgement.earned for row in _at_once(_count, url, tmp_path)] == list(range(1, 61))
