"""While a class is graded: what was graded last, how far, how fast, how long still."""

import io
from fractions import Fraction

from rich.console import Console

from viva.formats.terminal_table import LATEST, progress_bar
from viva.model import Case, Entry, Score, Status


def score(name: str, earned: int) -> Score:
    status = Status.PASSED if earned == 4 else Status.FAILED
    case = Case("", status, Fraction(earned), Fraction(4), "")
    entry = Entry("test_a.py::test_a", "A.", "1", "visible", status, Fraction(earned), Fraction(4), (case,))
    return Score(name, "", "small", 1, (entry,))


def test_it_shows_the_latest_scores_and_the_rate() -> None:
    seen = io.StringIO()
    bar = progress_bar(20, Console(file=seen, force_terminal=True, width=100, color_system=None))
    for number in range(12):
        bar.advance(score(f"class/s{number:02}", 4 if number % 2 else 0))
    bar.tell("class/s12: epoch 3\x1b[2J")
    bar.stop()
    last = seen.getvalue().rpartition("submission")[2]
    shown = [f"s{number:02}" for number in range(12) if f"s{number:02} " in last]
    assert len(shown) <= LATEST and shown[-1:] == ["s11"] and "s03" not in shown
    assert "12/20" in last and "/s" in last
    assert "epoch 3" in last and "\x1b[2Jx" not in last


def test_a_submission_without_a_score_counts_too() -> None:
    seen = io.StringIO()
    bar = progress_bar(2, Console(file=seen, force_terminal=True, width=80, color_system=None))
    bar.advance()
    bar.stop()
    assert "1/2" in seen.getvalue()
