"""`viva import` at the command line, from another tool's folder to a graded class."""

import json
from pathlib import Path

import pytest

from bench.small_course import notebook
from tests.support.nbgrader_class import CLASS, FILE, write_class
from tests.support.otter_class import autograder
from tests.support.run_command import Viva


@pytest.mark.long
def test_an_nbgrader_course_is_taken_over_and_graded(
    viva: Viva, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_class(tmp_path / "old")
    ran = viva("import", "nbgrader", "old", "--to", "new")
    assert (ran.status, ran.err) == (0, "")
    assert "new: a course with one assignment: ps1." in ran.out and "in the same sandbox as the graded code" in ran.out
    for name in ("right", "partial"):
        (tmp_path / name).mkdir()
        (tmp_path / name / FILE).write_text(notebook(CLASS[name]), "utf-8")
    ran = viva("grade", "right", "partial", "--course", "new", "-o", "results")
    assert (ran.status, ran.err) == (0, "")
    assert "ps1: an nbgrader suite, which shares its process with the graded code and can be forged by it" in ran.out
    totals = [json.loads((tmp_path / f"results/{n}/results.json").read_text())["score"] for n in ("right", "partial")]
    assert totals == [10, 9]
    assert viva("verify", "--course", "new", "--no-mutants").status == 0
    why = viva("explain", "results/right/results.json", "test_total", "--course", "new")
    assert why.status == 0 and "test_total" in why.out


def test_a_student_checks_an_imported_assignment(viva: Viva, tmp_path: Path) -> None:
    assert viva("import", "otter", str(autograder(tmp_path)), "--to", "new").status == 0
    (tmp_path / "hw.ipynb").write_text(notebook([]), "utf-8")
    ran = viva("check", "hw.ipynb", "--course", "new")
    assert ran.status == 0 and "q1 - 1" in ran.out and "q1 - 2" not in ran.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nbgrader", "nothing", "--to", "new"], "nothing: no such file or folder"),
        (["nbgrader", ".", "--to", "new"], "holds no notebook"),
        (["otter", ".", "--to", "."], "holds neither tests"),
        (["gradescope", ".", "--to", "new"], "holds no tests/test*.py"),
        (["moodle", ".", "--to", "new"], "'moodle' is not one of"),
        (["nbgrader", "."], "--to"),
    ],
)
def test_what_is_wrong_is_one_sentence(viva: Viva, tmp_path: Path, arguments: list[str], words: str) -> None:
    ran = viva("import", *arguments)
    assert ran.status == 1 and words in ran.sentence()
    assert not (tmp_path / "new").exists()


def test_settings_of_nbgrader_that_change_totals_are_refused(viva: Viva, tmp_path: Path) -> None:
    write_class(tmp_path / "old")
    (tmp_path / "old" / "nbgrader_config.py").write_text(
        "c = get_config()\nc.ClearHiddenTests.begin_test_delimeter = 'X'\n", "utf-8"
    )
    ran = viva("import", "nbgrader", "old", "--to", "new")
    assert ran.status == 1 and "line 2: `ClearHiddenTests.begin_test_delimeter`" in ran.sentence()
    (tmp_path / "old" / "nbgrader_config.py").write_text(
        "c = get_config()\nc.ExecutePreprocessor.timeout = 99\nc.Exchange.root = 'x'\n", "utf-8"
    )
    ran = viva("import", "nbgrader", "old", "--to", "new")
    assert "Exchange.root, which means nothing here" in ran.out
    assert "test_s: 99" in (tmp_path / "new/assignments/ps1/assignment.yaml").read_text("utf-8")
