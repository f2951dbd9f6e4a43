"""What a person sees: words next to symbols, aligned numbers, nothing too wide, nothing of the student's acts."""

import io
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from viva.formats.escaping import MAX_NOTE_LINES, short_notes
from viva.formats.terminal_table import LATEST, print_class, print_score, progress_bar
from viva.model import Case, Entry, Isolation, Score, Status


def entry(
    index: int, status: Status, earned: int, points: int, message: str = "", staff: str = "", **more: str
) -> Entry:
    case = Case("", status, Fraction(earned), Fraction(points), message, staff)
    fields: dict[str, Any] = {"name": f"Test number {index}.", "visibility": "visible"} | more
    return Entry(
        test_id=f"t.py::test_{index}", number=f"1.{index}", status=status, earned=Fraction(earned),
        points=Fraction(points), cases=(case,), **fields,
    )  # fmt: skip


SCORE = Score(
    submission="class/alice",
    content_hash="0" * 64,
    assignment="masks",
    version=1,
    entries=(
        entry(1, Status.PASSED, 10, 10),
        entry(2, Status.FAILED, 0, 5, "your answer has the shape (3, 4), expected (4, 3)\nfirst at [0]"),
        entry(3, Status.NEEDS_REVIEW, 0, 3, "Not graded yet: a person grades this answer."),
        entry(4, Status.ERROR, 0, 2, "fixed sentence", "the hidden input was 42", visibility="hidden"),
    ),
    notes=("cell 3 raised",),
    isolation=Isolation("T3"),
)


def shown(score: Score, width: int = 100, *, as_student: bool = False) -> str:
    out = io.StringIO()
    print_score(score, as_student=as_student, file=out, width=width)
    return out.getvalue()


def test_every_test_is_a_line() -> None:
    text = shown(SCORE)
    lines = text.splitlines()
    assert lines[:2] == ["class/alice", "  cell 3 raised"]
    assert lines[2].split() == ["✓", "passed", "10", "/", "10", "1.1", "Test", "number", "1."]
    assert lines[3].split()[:5] == ["✗", "failed", "0", "/", "5"]
    assert lines[4:6] == ["    your answer has the shape (3, 4), expected (4, 3)", "    first at [0]"]
    assert "✎ needs review  open /  3" in text
    assert "for staff: the hidden input was 42" in text
    assert "10 of 17 points, 3 more pending" in text
    assert "isolation T3" in text


def test_student_sees_no_hidden_test() -> None:
    text = shown(SCORE, as_student=True)
    assert "42" not in text and "Test number 4" not in text and "fixed sentence" not in text
    assert "and 1 hidden test\n" in text
    assert "10 of 15 points, 3 more pending" in text


@pytest.mark.parametrize("width", [24, 40, 63, 64, 80, 200])
def test_any_width_holds_it(width: int) -> None:
    long = replace(SCORE, submission="class/" + "a" * 150, notes=("word " * 60, "x" * 300))
    text = shown(long, width)
    assert max(map(len, text.splitlines())) <= width
    assert "needs review" in text and "points" in text
    out = io.StringIO()
    print_class([long, SCORE], file=out, width=width)
    assert max(map(len, out.getvalue().splitlines())) <= width
    assert "1 passed" in out.getvalue()


def test_a_class() -> None:
    out = io.StringIO()
    bob = replace(SCORE, submission="class/bob", entries=SCORE.entries[:1])
    print_class([SCORE, bob], file=out, width=120)
    head, alice, second = out.getvalue().splitlines()
    assert head.split() == ["submission", "score", "of", "pending", "tests"]
    assert alice.split()[:4] == ["alice", "10", "17", "3"]
    assert alice.endswith("✓ 1 passed  ✗ 1 failed  ! 1 error  ✎ 1 needs review")
    assert second.split() == ["bob", "10", "10", "✓", "1", "passed"]


def test_environments_of_a_class() -> None:
    """The most frequent first; a script of the student's own words stays a line of text."""
    old, odd = "transformers 5.23.0 lacks encode_plus", "numpy 2 lacks \x1b[2J[red]"
    scores = [replace(SCORE, environment=(odd, old)), replace(SCORE, environment=(old,)), SCORE]
    out = io.StringIO()
    print_class(scores, file=out, width=120)
    assert out.getvalue().splitlines()[4:] == [
        "Written for another environment:",
        f"  2 of 3: {old}",
        "  1 of 3: numpy 2 lacks [red]",
    ]
    out = io.StringIO()
    print_class([replace(SCORE, environment=tuple(f"a{n} is not installed" for n in range(11)))], file=out, width=50)
    assert out.getvalue().splitlines()[-1] == "  and 3 more"


def test_chosen_files_of_a_class() -> None:
    """The name of a file may hold anything."""
    chosen = [replace(SCORE, submission=f"class/a{n}", choice=f"\x1b[2J{n} counts.") for n in range(22)]
    out = io.StringIO()
    print_class([SCORE, *chosen], file=out, width=120)
    lines = out.getvalue().splitlines()
    begin = lines.index("Which file counts:")
    assert begin == 24 and lines[begin + 1 : begin + 3] == ["  a0: 0 counts.", "  a1: 1 counts."]
    assert lines[begin + 20 :] == ["  a19: 19 counts.", "  and 2 more; report.csv has all of them"]


def test_text_of_a_student_does_not_act() -> None:
    hostile = "\x1b[2J\x1b]0;x\x07[bold red]100 / 100[/] :smile: \u202e\rpassed"
    score = replace(
        SCORE, submission=hostile, notes=(hostile,), entries=(entry(1, Status.FAILED, 0, 1, hostile, name=hostile),)
    )
    text = shown(score)
    assert not set("\x1b\x07\r\u202e") & set(text)
    assert text.count("[bold red]100 / 100[/] :smile:") == 4


def test_ascii_output_keeps_the_words() -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    print_score(SCORE, file=out, width=80)
    out.flush()
    assert b"? passed" in raw.getvalue()


def test_one_cause_is_told_to_staff_once() -> None:
    entries = tuple(entry(i, Status.GRADER_ERROR, 0, 1, "ours", "Traceback: the disk is full") for i in range(3))
    text = shown(replace(SCORE, entries=entries))
    assert text.count("the disk is full") == 1
    assert text.count("for staff: as for 1.0 test_0") == 2


# --- while a class is graded


def score_of_4(name: str, earned: int) -> Score:
    status = Status.PASSED if earned == 4 else Status.FAILED
    case = Case("", status, Fraction(earned), Fraction(4), "")
    test = Entry("test_a.py::test_a", "A.", "1", "visible", status, Fraction(earned), Fraction(4), (case,))
    return Score(name, "", "small", 1, (test,))


def test_progress_bar() -> None:
    seen = io.StringIO()
    bar = progress_bar(20, Console(file=seen, force_terminal=True, width=100, color_system=None))
    for number in range(12):
        bar.advance(score_of_4(f"class/s{number:02}", 4 if number % 2 else 0))
    bar.tell("class/s12: epoch 3\x1b[2J")
    bar.stop()
    last = seen.getvalue().rpartition("submission")[2]
    names = [f"s{number:02}" for number in range(12) if f"s{number:02} " in last]
    assert len(names) <= LATEST and names[-1:] == ["s11"] and "s03" not in names
    assert "12/20" in last and "/s" in last
    assert "epoch 3" in last and "\x1b[2Jx" not in last


# --- what is above the tests: what costs most comes first, and the rest is counted


TRACEBACK = "While loading, cell 3: Your code raised NameError.\n" + "\n".join(f"  line {n}" for n in range(12))


def test_many_notes() -> None:
    shown = short_notes([TRACEBACK, "While loading, cell 4: NameError.\n  a\n  b", "Not run: a.py"])
    assert shown[:6] == TRACEBACK.splitlines()[:6]
    assert shown[6:] == ["While loading, cell 4: NameError.", "Not run: a.py", "… and 9 more lines."]


@given(st.lists(st.text(alphabet="ab \n", max_size=40), max_size=20))
def test_notes_are_counted(notes: list[str]) -> None:
    lines = [line for note in notes for line in note.splitlines() or [""]]
    shown = short_notes(notes)
    assert len(shown) <= MAX_NOTE_LINES
    if len(lines) > MAX_NOTE_LINES:
        assert shown[-1] == f"… and {len(lines) - (len(shown) - 1)} more lines."
    else:
        assert shown == lines
