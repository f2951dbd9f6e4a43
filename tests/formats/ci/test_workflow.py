"""Workflow commands: the runner obeys ours and nothing that a student printed, checked by a runner of these tests."""

from collections import Counter

import pytest
from hypothesis import given

from tests.support.ci_log import runner
from tests.support.ci_results import HIDDEN, SECRET, TEXTS, entry, one_of_each, report, spoiled
from viva.model import Status
from viva.plugins.ci.public_view import report_of
from viva.plugins.ci.workflow_commands import Place, annotations, command, place_of, stopped

OBEYED = {"error", "warning", "notice", "group", "endgroup", "stop-commands"}


@given(TEXTS, TEXTS)
def test_command_is_one_line(text: str, title: str) -> None:
    ((kind, properties, _),) = runner(command("error", text, title=title, line=3))
    assert kind == "error" and set(properties) <= {"title", "line"} and properties["line"] == "3"


def test_special_characters_are_escaped() -> None:
    assert command("error", "100%\nof: a, b", file="a,b:c%.py", line=3) == (
        "::error file=a%2Cb%3Ac%25.py,line=3::100%25%0Aof: a, b"
    )
    assert command("notice", "plain") == "::notice::plain"


@given(TEXTS)
def test_nothing_is_obeyed_between_tokens(text: str) -> None:
    assert [kind for kind, _, _ in runner(stopped(text))] == ["stop-commands"]


def test_token_that_the_text_holds() -> None:
    tokens = iter(["aaaa", "bbbb", "cccc"])
    assert stopped("::aaaa::\nbbbb", lambda: next(tokens)).splitlines()[-1] == "::cccc::"


def test_tokens_differ() -> None:
    assert len({stopped("x").splitlines()[0] for _ in range(20)}) == 20


@given(TEXTS)
def test_no_text_becomes_a_command(text: str) -> None:
    honest = Counter(kind for kind, _, _ in runner(annotations([report_of(one_of_each())])))
    spoiled_too = Counter(kind for kind, _, _ in runner(annotations([report_of(spoiled(one_of_each(), text))])))
    assert spoiled_too == honest and set(honest) == OBEYED - {"notice"}


@pytest.mark.parametrize("count", [9, 10, 11, 40])
def test_at_most_ten_annotations(count: int) -> None:
    shown = report(*(entry(index, Status.FAILED) for index in range(count)))
    said = [message for kind, _, message in runner(annotations([shown])) if kind == "error"]
    assert len(said) == min(count, 10)
    assert (f"{count - 9} more tests" in said[-1]) == (count > 10)
    assert annotations([shown]).count("What is wrong with") == count + min(count, 9 if count > 10 else 10)


def test_passed_and_pending_are_no_annotation() -> None:
    kinds = Counter(kind for kind, _, _ in runner(annotations([report_of(one_of_each())])))
    assert (kinds["error"], kinds["warning"]) == (3, 2)  # failed, error, timeout; partial, grader_error
    assert annotations([report(entry(1))]).count("::error") == 0


@pytest.mark.parametrize(
    ("message", "submission", "place"),
    [
        ("raised\n  solution.py, line 96, in s\n    x\n  solution.py, line 88, in a", ".", Place("solution.py", 88)),
        ("  lib/masks.py, line 7, in f", "homework/one", Place("homework/one/lib/masks.py", 7)),
        ("  solution.py, line 7, in f", "homework/solution.py", Place("homework/solution.py", 7)),
        ("  cell 3, line 2, in f", "lab.ipynb", None),
        ("  ../../etc/passwd.py, line 1", ".", None),
        ("  solution.py, line 7", "../elsewhere", None),
    ],
)
def test_place_is_a_file_of_the_submission_or_none(message: str, submission: str, place: Place | None) -> None:
    assert place_of(message, submission) == place


def test_no_hidden_test_in_annotations() -> None:
    told = annotations([report_of(one_of_each())])
    assert SECRET not in told and HIDDEN not in told and "A hidden test" not in told and "for staff" not in told
