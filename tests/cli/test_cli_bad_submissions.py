"""Submissions that cannot be graded, or not wholly: a sentence for the student, a valid result, exit status 0."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import KEEPS_CASE, OPEN, RIGHT, hand_in, hand_in_notebook, notebook
from viva.cli.main import run
from viva.formats.results_json import Results, load_results

NONE_OF_10 = 0
Make = Callable[[Path], object]


def nothing(folder: Path) -> None:
    folder.mkdir()


def file(name: str, data: bytes | str) -> Make:
    """A folder with one file."""

    def make(folder: Path) -> None:
        folder.mkdir()
        (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)

    return make


def sparse(name: str, mib: int) -> Make:
    def make(folder: Path) -> None:
        folder.mkdir()
        with (folder / name).open("wb") as made:
            made.truncate(mib << 20)

    return make


def notebooks(count: int) -> Make:
    def make(folder: Path) -> None:
        for index in range(count):
            hand_in_notebook(folder, RIGHT, name=f"copy_{index}.ipynb")

    return make


def link_to(name: str) -> Make:
    def make(folder: Path) -> None:
        folder.symlink_to(folder.parent / name)

    return make


JUNK = bytes(range(256)) * 400
WHOLE = notebook(RIGHT)

# What is above the tests: what is wrong, where, and what to do.
UNREADABLE: dict[str, tuple[Make, list[str]]] = {
    "empty": (nothing, ["empty is an empty folder", "submit your notebook or your Python file"]),
    "zero_bytes": (file("work.ipynb", b""), ["work.ipynb is empty (0 bytes)", "save your work"]),
    "zero_bytes_module": (file("solution.py", b""), ["solution.py is empty (0 bytes)", "save your work"]),
    "huge": (sparse("solution.py", 500), ["larger than 64 MiB", "solution.py alone is 500 MiB", "without data sets"]),
    "web_page": (file("work.ipynb", "<!DOCTYPE html><html></html>"), ["is a web page", "download the file"]),
    "binary": (file("solution.py", JUNK), ["solution.py is binary data", "submit the file that your editor"]),
    "binary_notebook": (file("work.ipynb", JUNK), ["work.ipynb is binary data"]),
    "twenty": (notebooks(20), ["20 notebooks were found", "submit the one with your answers"]),
    "link": (link_to("empty"), ["link is a link", "submit a file or a folder"]),
}
UNLOADABLE: dict[str, tuple[Make, list[str]]] = {
    "truncated": (file("work.ipynb", WHOLE[: len(WHOLE) // 2]), ["work.ipynb", "breaks off in line", "save it"]),
    "deep": (file("work.ipynb", "[" * 200_000), ["work.ipynb", "nested too deeply"]),
    "no_notebook": (file("work.ipynb", "[1, 2]"), ["work.ipynb", "is not a notebook", "open it in Jupyter"]),
    "conflict": (file("work.ipynb", "<<<<<<< HEAD\n{}\n>>>>>>> x"), ["unresolved Git conflict in line 1"]),
    "pdf": (file("work.pdf", b"%PDF-1.7 ..."), ["No Python file or notebook was found", "work.pdf"]),
    "no_syntax": (
        file("solution.py", "What we have done:\n" + "\n".join(f"    {line}" for line in RIGHT.splitlines())),
        ["solution.py", "SyntaxError"],
    ),
    "another_assignment": (
        lambda folder: hand_in(folder, "def attention(q, k, v):\n    return v\n"),
        ["graded as “Words”", "none of the names asked for (such as `word_counts`, `total`"],
    ),
}


@pytest.fixture(scope="module")
def results(course: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Results]:
    """The whole class of them, graded in one run between two submissions that are as they should be."""
    folder = tmp_path_factory.mktemp("class")
    for name, (make, _) in (UNREADABLE | UNLOADABLE).items():
        make(folder / name)
    hand_in(folder / "a_right")
    hand_in(folder / "z_wrong", KEEPS_CASE)
    names = sorted(p.name for p in folder.iterdir())
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("VIVA_SECRET", "the secret of the course that only tests use")
        patched.chdir(folder)
        assert run(["grade", "--course", str(course), "--tier", "best", "-o", "../graded", *names]) == 0
    return {name: load_results(folder.parent / "graded" / name / "results.json") for name in names}


def test_one_broken_submission_never_costs_the_class(results: dict[str, Results]) -> None:
    assert results["a_right"].score == 9
    assert results["z_wrong"].score == 3
    assert all(result.extra_data.complete for result in results.values())


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_gets_a_sentence_and_no_points(results: dict[str, Results], name: str) -> None:
    result = results[name]
    for words in UNREADABLE[name][1]:
        assert words in result.output
    assert len(result.output.splitlines()) == 1
    assert (result.score, result.extra_data.still_open, len(result.tests)) == (NONE_OF_10, "0", 5)
    assert {t.extra_data.status for t in result.tests} == {"failed"}
    assert {t.output for t in result.tests if t.visibility == "visible"} == {
        "Not asked: your submission could not be read. The reason is at the top of the results."
    }


@pytest.mark.parametrize("name", UNLOADABLE)
def test_what_cannot_be_loaded_gets_a_sentence_and_no_points(results: dict[str, Results], name: str) -> None:
    result = results[name]
    first, *rest = result.output.splitlines()
    for words in UNLOADABLE[name][1]:
        assert words in result.output
    assert "Traceback" not in result.output and first and len(rest) <= 3
    assert result.score == NONE_OF_10
    assert result.extra_data.still_open == str(OPEN)  # prose can still be graded by a person
    assert not {t.extra_data.status for t in result.tests} & {"grader_error", "passed"}


def test_a_file_given_by_itself_is_judged_like_a_folder(viva: Viva, tmp_path: Path) -> None:
    sparse("solution.py", 500)(tmp_path / "huge")
    ran = viva("grade", tmp_path / "huge" / "solution.py", "-o", "result.json")
    assert ran.status == 0 and ran.err == ""
    assert "larger than 64 MiB" in load_results(Path("result.json")).output
    (tmp_path / "essay.docx").write_bytes(b"PK\x03\x04 and more")
    ran = viva("grade", "essay.docx", "-o", "result.json")
    assert ran.status == 0
    assert "essay.docx cannot be graded (it is a zip archive): submit a notebook" in ran.out


def test_reading_a_huge_file_costs_no_memory(viva: Viva, tmp_path: Path) -> None:
    """500 MiB of nothing are refused by their size; reading them would double the memory of this process."""
    import tracemalloc

    sparse("solution.py", 500)(tmp_path / "huge")
    tracemalloc.start()
    viva("grade", "huge")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 << 20


def test_a_student_reads_the_same_sentence(viva: Viva, tmp_path: Path) -> None:
    nothing(tmp_path / "empty")
    ran = viva("check", "empty")
    assert ran.status == 0 and "empty is an empty folder" in ran.out and "0 of 8 points" in ran.out


def test_a_submission_that_goes_away_while_the_class_is_graded(viva: Viva, tmp_path: Path) -> None:
    """Large classes are read when their turn comes; one that has gone by then is told, the others are graded."""
    folders = [hand_in(tmp_path / f"s{index}") for index in range(3)]
    from viva.cli.shared import listing

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(listing, "KEEP_BYTES_BELOW", 0)
        patched.setattr("viva.cli.shared.options.recognise", _removing(folders[1]))
        ran = viva("grade", *folders, "-o", "graded", "--workers", "1")
    assert ran.status == 2
    assert "s1" in ran.sentence() and "cannot be read any more" in ran.sentence()
    assert sorted(p.parent.name for p in Path("graded").rglob("results.json")) == ["s0", "s2"]


def _removing(folder: Path) -> Callable[..., object]:
    from viva.config import recognise

    def recognised(course: object, submission: object) -> object:
        if submission.name == str(folder):  # type: ignore[attr-defined]
            (folder / "solution.py").unlink()
            folder.rmdir()
        return recognise(course, submission)  # type: ignore[arg-type]

    return recognised


def test_results_hold_no_path_of_the_grading_host(results: dict[str, Results], course: Path) -> None:
    text = json.dumps([result.model_dump() for result in results.values()])
    assert str(course) not in text and os.sep + "tmp" not in text
