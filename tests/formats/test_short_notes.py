"""What is above the tests is short: what costs most comes first, and the rest is counted."""

from hypothesis import given
from hypothesis import strategies as st

from viva.formats.short_notes import MOST_LINES, short_notes

TRACEBACK = "While loading, cell 3: Your code raised NameError.\n" + "\n".join(f"  line {n}" for n in range(12))


def test_few_lines_are_shown_as_they_are() -> None:
    assert short_notes([]) == []
    assert short_notes(["one", "two\n  more"]) == ["one", "two", "  more"]


def test_the_first_problem_keeps_its_lines_and_the_others_their_first() -> None:
    shown = short_notes([TRACEBACK, "While loading, cell 4: NameError.\n  a\n  b", "Not run: a.py"])
    assert shown[:6] == TRACEBACK.splitlines()[:6]
    assert shown[6:] == ["While loading, cell 4: NameError.", "Not run: a.py", "… and 9 more lines."]


@given(st.lists(st.text(alphabet="ab \n", max_size=40), max_size=20))
def test_there_are_never_more_than_ten_lines_and_none_is_lost_from_the_count(notes: list[str]) -> None:
    lines = [line for note in notes for line in note.splitlines() or [""]]
    shown = short_notes(notes)
    assert len(shown) <= MOST_LINES
    if len(lines) > MOST_LINES:
        assert shown[-1] == f"… and {len(lines) - (len(shown) - 1)} more lines."
    else:
        assert shown == lines
