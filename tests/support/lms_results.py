"""Results and feedback pages as `viva grade -o` and `viva report --feedback` write them."""

from fractions import Fraction
from pathlib import Path

from viva.formats.results_json import to_json
from viva.model import Case, Entry, Score, Status


def score_of_10(earned: int, still_open: int = 0) -> Score:
    """A score of 10 points."""
    parts = [(Status.PASSED, earned), (Status.NEEDS_REVIEW, still_open), (Status.FAILED, 10 - earned - still_open)]
    entries = []
    for status, points in parts:
        won, most = Fraction(earned if status is Status.PASSED else 0), Fraction(points)
        entries.append(
            Entry(f"t.py::{status}", "t", "1", "visible", status, won, most, (Case("", status, won, most, ""),))
        )
    return Score("s", "0" * 64, "words", 1, tuple(entries))


def write_result(folder: Path, earned: int, still_open: int = 0) -> None:
    folder.mkdir(parents=True)
    (folder / "results.json").write_bytes(to_json(score_of_10(earned, still_open)))


def write_page(name: str, text: str) -> None:
    path = Path("report/feedback") / f"{name}.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
