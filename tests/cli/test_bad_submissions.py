"""Submissions that cannot be graded, or not wholly: a sentence for the student, a valid result, exit status 0.

What is said of each is shown in tests/submissions.
"""

import json
import os
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import KEEPS_CASE, OPEN, RIGHT, SECRET, hand_in, notebook
from viva.cli.main import run
from viva.cli.shared import listing
from viva.formats.results_json import Results, load_results
from viva.model import Submission
from viva.submissions import recognize_assignment

WHOLE = notebook(RIGHT)
# Name of the only file, what it holds, and what is said above the tests: what is wrong, where, and what to do.
UNREADABLE = {
    "zero_bytes": ("work.ipynb", "", ["work.ipynb is empty (0 bytes)", "save your work"]),
    "web_page": ("work.ipynb", "<!DOCTYPE html><html></html>", ["is a web page", "download the file"]),
}
UNLOADABLE = {
    "truncated": ("work.ipynb", WHOLE[: len(WHOLE) // 2], ["work.ipynb", "breaks off in line", "save it"]),
    "pdf": ("work.pdf", "%PDF-1.7 ...", ["No Python file or notebook was found", "work.pdf"]),
    "no_syntax": ("solution.py", "Here it is:\n" + textwrap.indent(RIGHT, "    "), ["solution.py", "SyntaxError"]),
    "other": (
        "solution.py",
        "def attention(q, k, v):\n    return v\n",
        ["graded as “Words”", "none of the names asked for (such as `word_counts`, `total`"],
    ),
}


@pytest.fixture(scope="module")
def results(course: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Results]:
    """The whole class of them, graded in one run between two submissions that are as they should be."""
    folder = tmp_path_factory.mktemp("class")
    for name, (file, text, _) in (UNREADABLE | UNLOADABLE).items():
        (folder / name).mkdir()
        (folder / name / file).write_text(text, "utf-8")
    (folder / "empty").mkdir()
    (folder / "link").symlink_to(folder / "empty")
    hand_in(folder / "a_right")
    hand_in(folder / "z_wrong", KEEPS_CASE)
    names = sorted(p.name for p in folder.iterdir())
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("VIVA_SECRET", SECRET)
        patched.chdir(folder)
        assert run(["grade", "--course", str(course), "--tier", "best", "-o", "../graded", *names]) == 0
    return {name: load_results(folder.parent / "graded" / name / "results.json") for name in names}


def test_broken_submission_never_costs_the_class(results: dict[str, Results], course: Path) -> None:
    assert results["a_right"].score == 9
    assert results["z_wrong"].score == 3
    assert all(result.extra_data.complete for result in results.values())
    text = json.dumps([result.model_dump() for result in results.values()])
    assert str(course) not in text and os.sep + "tmp" not in text


@pytest.mark.parametrize("name", ["empty", "link", *UNREADABLE])
def test_unreadable_submission(results: dict[str, Results], name: str) -> None:
    result = results[name]
    for words in UNREADABLE[name][2] if name in UNREADABLE else [f"{name} is a", "submit"]:
        assert words in result.output
    assert len(result.output.splitlines()) == 1
    assert (result.score, result.extra_data.still_open, len(result.tests)) == (0, "0", 5)
    assert {t.extra_data.status for t in result.tests} == {"failed"}
    assert {t.output for t in result.tests if t.visibility == "visible"} == {
        "Not asked: your submission could not be read. The reason is at the top of the results."
    }


@pytest.mark.parametrize("name", UNLOADABLE)
def test_unloadable_submission(results: dict[str, Results], name: str) -> None:
    result = results[name]
    first, *rest = result.output.splitlines()
    for words in UNLOADABLE[name][2]:
        assert words in result.output
    assert "Traceback" not in result.output and first and len(rest) <= 3
    assert result.score == 0
    assert result.extra_data.still_open == str(OPEN)  # prose can still be graded by a person
    assert not {t.extra_data.status for t in result.tests} & {"grader_error", "passed"}


def test_submission_that_goes_away_meanwhile(viva: Viva, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large classes are read when their turn comes; one that has gone by then is told, the others are graded."""
    folders = [hand_in(tmp_path / f"s{index}") for index in range(3)]
    monkeypatch.setattr(listing, "KEEP_BYTES_BELOW", 0)
    monkeypatch.setattr("viva.cli.shared.options.recognize_assignment", _removing(folders[1]))
    ran = viva("grade", *folders, "-o", "graded", "--workers", "1")
    assert ran.status == 2
    assert "s1" in ran.sentence() and "cannot be read any more" in ran.sentence()
    assert sorted(p.parent.name for p in Path("graded").rglob("results.json")) == ["s0", "s2"]


def _removing(folder: Path) -> Callable[..., object]:
    def recognise_and_remove(course: object, submission: Submission) -> object:
        if submission.name == str(folder):
            (folder / "solution.py").unlink()
            folder.rmdir()
        return recognize_assignment(course, submission)  # type: ignore[arg-type]  # passed on as it comes

    return recognise_and_remove
