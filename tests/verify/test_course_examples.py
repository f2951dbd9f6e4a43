"""The examples of this course: each gets what it should, wrong ones name their mistake, messages are sentences."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.verified_examples import COURSE, ROOT, verified_examples
from viva.examiner.outcome import HIDDEN
from viva.model import Entry, Status

ASSIGNMENTS = COURSE.assignments
LONGEST = 900
"""Characters of one case's message: more is not read."""
ADVISED = re.compile(re.escape(HIDDEN) + r" Try [^\n]+\.")
"""What a student reads of a hidden test of this course: the fixed sentence, and its author's advice."""
RAW = re.compile(r"AssertionError|assert |Traceback|<[\w.]+ object at|array\(|np\.float|dtype=|\bnan\b")
"""What an author sees and a student should not: pytest's words, Python's spelling of arrays."""


def submissions(assignment: str) -> Path:
    return ROOT / "fixtures" / assignment / "submissions"


def expected(assignment: str) -> dict[str, Any]:
    stated = sorted(submissions(assignment).glob("*/*/submission.yaml"))
    return {f"{file.parts[-3]}/{file.parts[-2]}": yaml.safe_load(file.read_text("utf-8")) for file in stated}


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_examples_name_their_mistakes(assignment: str) -> None:
    stated = expected(assignment)
    kinds = ("partial", "wrong", "error", "timeout", "hostile")
    names = [f"{kind}/{path.name}" for kind in kinds for path in (submissions(assignment) / kind).iterdir()]
    assert [name for name in names if not stated.get(name, {}).get("mistake", "").endswith(".")] == []
    sentences = [stated[name]["mistake"] for name in names]
    assert len(set(sentences)) == len(sentences), "a sentence that fits two examples does not name the mistake of one"


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_wrong_examples_state_a_message(assignment: str) -> None:
    """`viva verify` looks for the words in what the student reads."""
    stated = expected(assignment)
    names = [f"wrong/{path.name}" for path in (submissions(assignment) / "wrong").iterdir()]
    assert len(names) >= 10
    silent = [name for name in names if len(stated.get(name, {}).get("message") or "") < 10]
    assert not silent
    inexact = [name for name in names if "score" not in stated[name] or not stated[name].get("failing")]
    assert not inexact


@pytest.mark.nightly
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_lost_points_have_readable_messages(assignment: str) -> None:
    hidden, visible = set(), {}
    for name, score in verified_examples(assignment).items():
        for entry in score.entries if name.startswith("wrong/") else ():
            if _is_lost(entry) and entry.visibility == "visible":
                visible[f"{name}: {entry.test_id}"] = [case.message for case in entry.cases if case.message]
            elif _is_lost(entry):
                hidden.add(entry.message)
    assert hidden and visible
    assert not {message for message in hidden if not ADVISED.fullmatch(message)}
    assert all(visible.values()), "a lost point without a word"
    poor = {
        where: message
        for where, messages in visible.items()
        for message in messages
        if len(message) > LONGEST or not sentence_of(message).endswith((".", "?", "!", "…", ")")) or RAW.search(message)
    }
    assert not poor, "\n".join(f"{where}: {message}" for where, message in poor.items())


def _is_lost(entry: Entry) -> bool:
    return not entry.status.is_open and entry.status is not Status.PASSED


def sentence_of(message: str) -> str:
    """Return the message without the lines of the student's own code, which follow an exception that it raised."""
    return message.partition(".\n  ")[0] + "." if message.startswith("Your code raised ") else message.rstrip()


@pytest.mark.nightly
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_example_gets_its_expected_verdict(assignment: str) -> None:
    examples = verified_examples(assignment)
    assert {"key", "starter"} < examples.keys() and len([name for name in examples if "/" in name]) > 20
