"""Hints that are proposed from mutants, and how they stand in the tests."""

from dataclasses import dataclass
from pathlib import Path
from typing import cast

import click
from click.testing import CliRunner

from viva.config import Assignment
from viva.plugins.authoring.commands.new import offer_hints
from viva.plugins.authoring.strength.hint_proposals import add_hints, hint_proposals
from viva.plugins.verify.mutants.make_mutants import MutantMaker
from viva.plugins.verify.mutants.mutant_trial import Verdict
from viva.plugins.verify.mutants.reachable_code import ReachableCode
from viva.plugins.verify.mutants.submission_code import Piece

KEY = """\
import numpy as np


def scores(q, k):
    return q @ k.T / np.sqrt(k.shape[-1])


def passed(points):
    return points >= 50
"""
TESTS = """\
from viva.grading import agree_on, number


@number("1")
def test_scores(student, key):
    agree_on(student.scores, key.scores, arrays("n", "d"), arrays("m", "d"))


def test_passed(student, key):
    agree_on(
        student.passed,
        key.passed,
        integers(0, 100),
    )
"""


@dataclass
class Folders:
    """The two folders of an assignment that hints are proposed for."""

    folder: Path
    graders: Path


def assignment_in(folder: Path) -> Assignment:
    (folder / "key.py").write_text(KEY)
    (folder / "tests.py").write_text(TESTS)
    return cast(Assignment, Folders(folder, folder))


def verdicts(kind: str = "killed") -> list[Verdict]:
    """The verdicts of all mutants of the key."""
    pieces = [Piece("key.py", KEY)]
    maker = MutantMaker("key", ReachableCode(pieces), ["scores", "passed"], ["key.py"], set())
    return [Verdict(mutant, kind) for mutant in maker.mutants(with_library=False)]


def test_hint_proposals(tmp_path: Path) -> None:
    proposals = hint_proposals(assignment_in(tmp_path), verdicts())
    assert [(hint.function, hint.right, hint.wrong) for hint in proposals][:1] == [
        ("scores", " / np.sqrt(k.shape[-1])", "")
    ]
    assert proposals[0].words == "the division by a square root, or the multiplication by a scale, is left out"
    assert ("passed", ">=", ">") in {(hint.function, hint.right.strip(), hint.wrong.strip()) for hint in proposals}
    assert all(KEY.count(hint.right) == 1 for hint in proposals)


def test_surviving_mutants(tmp_path: Path) -> None:
    assert hint_proposals(assignment_in(tmp_path), verdicts("survived")) == []


def test_add_hints(tmp_path: Path) -> None:
    proposals = hint_proposals(assignment_in(tmp_path), verdicts())
    assert add_hints(tmp_path / "tests.py", proposals) == len(proposals) > 1
    text = (tmp_path / "tests.py").read_text()
    compile(text, "tests.py", "exec")
    assert 'arrays("m", "d"), hints={\n        "the division' in text
    assert "integers(0, 100),\n    hints={\n" in text
    assert "from viva.grading import agree_on, number, with_mistake\n" in text
    assert add_hints(tmp_path / "tests.py", proposals) == 0 and (tmp_path / "tests.py").read_text() == text


def test_offer_hints(tmp_path: Path) -> None:
    assignment = assignment_in(tmp_path)

    @click.command()
    def ask() -> None:
        offer_hints(assignment, verdicts())

    first, second, *others = hint_proposals(assignment, verdicts())
    done = CliRunner().invoke(ask, input="\n".join(["y", "", "-", *("my words" for _ in others)]) + "\n")
    assert done.exit_code == 0 and f"{1 + len(others)} hints added" in done.output
    text = (tmp_path / "tests.py").read_text()
    assert first.words in text and second.words not in text and text.count('"my words"') == len(others) > 0
    assert CliRunner().invoke(ask, input="n\n").exit_code == 0 and (tmp_path / "tests.py").read_text() == text
