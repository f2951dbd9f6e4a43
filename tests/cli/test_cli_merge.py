"""`viva merge`: files and folders, written whole, nothing lost, one sentence for what does not fit."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import KEEPS_CASE, RIGHT, TESTS, hand_in

pytestmark = pytest.mark.long

TRAINS = '''

@number("3.1")
@weight(3)
@pytest.mark.training
def test_it_learns(student, key):
    """After training, the sum is known."""
    agree(student.total([4, 5]), key.total([4, 5]))
    training.draw("sums", [0, float(student.total([4, 5]))], {2: 9})
'''
Passes = tuple[Path, Path]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders `early` and `late`: two submissions graded without and with the test that trains."""
    from tests.support.words_course import SECRET, write_course
    from viva.cli.main import run

    root = tmp_path_factory.mktemp("passes")
    course = write_course(root / "course")
    tests = "import pytest\nfrom viva.grading import training\n" + TESTS + TRAINS
    (course / "graders/words/test_words.py").write_text(tests, "utf-8")
    settings = course / "assignments/words/assignment.yaml"
    settings.write_text(settings.read_text("utf-8").replace("points: 10", "points: 13"), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VIVA_SECRET", SECRET)
        patch.chdir(root)
        for name, source in {"ada": RIGHT, "bob": KEEPS_CASE}.items():
            hand_in(Path("class") / name, source)
        common = ["grade", "class/ada", "class/bob", "--course", str(course), "--tier", "best", "--workers", "1"]
        assert run([*common, "--no-training", "-o", "early"]) == run([*common, "--only", "3.1", "-o", "late"]) == 0
    return root


@pytest.fixture
def passes(made: Path, tmp_path: Path) -> Passes:
    """The two folders, the test's own to change; the current folder is above them."""
    for name in ("early", "late"):
        shutil.copytree(made / name, tmp_path / name)
    return tmp_path / "early", tmp_path / "late"


def of(folder: Path, who: str = "ada") -> Path:
    return folder / "class" / who / "results.json"


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def change(path: Path, how: Callable[[Any], Any]) -> None:
    data = read(path)
    how(data)
    path.write_text(json.dumps(data), "utf-8")


def test_a_file_takes_what_another_pass_has_marked(viva: Viva, passes: Passes, tmp_path: Path) -> None:
    early, late = map(of, passes)
    before = early.read_bytes(), late.read_bytes()
    ran = viva("merge", early, late, "-o", tmp_path / "all.json")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == f"{tmp_path / 'all.json'}: 1 grade taken, 12 of 12 points, 1 more pending\n"
    assert (early.read_bytes(), late.read_bytes()) == before
    result = read(tmp_path / "all.json")
    assert (result["score"], result["extra_data"]["still_open"]) == (12, "1")
    assert "more pending" in viva("diff", early, tmp_path / "all.json").out


def test_without_a_place_the_first_is_completed_and_again_changes_nothing(viva: Viva, passes: Passes) -> None:
    early, late = map(of, passes)
    assert viva("merge", early, late).status == 0
    once, written = early.read_bytes(), early.stat().st_mtime_ns
    ran = viva("merge", early, late, early)
    assert "0 grades taken, 12 of 12 points" in ran.out
    assert (early.read_bytes(), early.stat().st_mtime_ns) == (once, written)


def test_either_order_gives_the_same_bytes(viva: Viva, passes: Passes, tmp_path: Path) -> None:
    early, late = map(of, passes)
    assert viva("merge", early, late, "-o", tmp_path / "1.json").status == 0
    assert viva("merge", late, early, "-o", tmp_path / "2.json").status == 0
    assert (tmp_path / "1.json").read_bytes() == (tmp_path / "2.json").read_bytes()


def test_two_folders_are_joined_result_by_result(viva: Viva, passes: Passes, tmp_path: Path) -> None:
    early, late = passes
    of(late, "bob").unlink()
    (late / "class/eve").mkdir()
    shutil.copy(of(late), of(late, "eve"))
    ran = viva("merge", early, late, "-o", tmp_path / "all")
    assert ran.status == 0 and ran.out.endswith("3 results merged.\n")
    assert read(of(tmp_path / "all"))["score"] == 12
    for curves in ("class/ada/curves.csv", "class/eve/curves.csv", "curves_words.csv"):
        assert "sums,2,9,9" in (tmp_path / "all" / curves).read_text("utf-8"), curves
    assert not (tmp_path / "all/class/bob/curves.csv").exists()
    assert of(tmp_path / "all", "bob").read_bytes() == of(early, "bob").read_bytes()
    assert of(tmp_path / "all", "eve").read_bytes() == of(late, "eve").read_bytes()


def test_one_pair_that_does_not_fit_costs_neither_itself_nor_the_others(
    viva: Viva, passes: Passes, tmp_path: Path
) -> None:
    early, late = passes
    shutil.copy(of(late), of(late, "bob"))
    ran = viva("merge", early, late, "-o", tmp_path / "all")
    assert ran.status == 1 and "different submissions" in ran.sentence()
    assert ran.out.endswith("1 result merged, 1 could not be.\n")
    assert read(of(tmp_path / "all"))["score"] == 12
    assert of(tmp_path / "all", "bob").read_bytes() == of(early, "bob").read_bytes()


def test_a_mark_that_differs_is_told_and_the_first_stays(viva: Viva, passes: Passes) -> None:
    early, late = map(of, passes)
    assert viva("merge", early, late).status == 0

    def lose(result: Any) -> None:
        (test,) = result["tests"]
        test.update(score=0.0, status="failed")
        test["extra_data"].update(status="failed", earned="0")
        result["score"], result["extra_data"]["earned"] = 0.0, "0"

    change(late, lose)
    kept = early.read_bytes()
    ran = viva("merge", early, late)
    assert ran.status == 0 and early.read_bytes() == kept
    assert f"test_it_learns: passed 3 / 3 in {early}, failed 0 / 3 in {late}; {early}'s was kept." in " ".join(
        ran.out.split()
    )


def test_a_place_that_holds_something_else_is_left_alone(viva: Viva, passes: Passes, tmp_path: Path) -> None:
    early, late = passes
    for there, why in (
        (of(early, "bob"), "with the result of another submission"),
        (tmp_path / "notes.json", "is not a results.json of viva"),
        (tmp_path, "it is a folder"),
    ):
        if there.name == "notes.json":
            there.write_text("mine", "utf-8")
        before = there.read_bytes() if there.is_file() else b""
        ran = viva("merge", of(early), of(early), "-o", there)
        assert ran.status == 1 and why in ran.sentence(), ran
        assert not there.is_file() or there.read_bytes() == before
    shutil.copy(of(late), tmp_path / "marked.json")
    ran = viva("merge", of(early), of(early), "-o", tmp_path / "marked.json")
    assert ran.status == 1 and "has a grade for test_words.py::test_it_learns that would be lost" in ran.sentence()


@pytest.mark.parametrize(
    ("how", "why"),
    [
        (lambda r: r["extra_data"].update(earned="1/0"), "extra_data.earned: String should match"),
        (lambda r: r["extra_data"].update(earned="9" * 5000), "extra_data.earned: String should match"),
        (lambda r: r["extra_data"].update(points="٣"), "extra_data.points: String should match"),
        (lambda r: r["extra_data"].update(points="99"), "not what the tests add up to"),
        (lambda r: r["tests"][0]["extra_data"].update(earned="99", points="99"), "score and extra_data.earned"),
        (lambda r: r["tests"][0]["extra_data"].update(earned="99"), "earned is more than extra_data.points"),
        (lambda r: r["extra_data"].update(complete=False), "is not complete"),
        (lambda r: r["extra_data"].update(version=2), "different versions of the assignment"),
        (lambda r: r["extra_data"].update(assignment="other\x1b[2J"), "different assignments"),
        (lambda r: r.update(tests="none"), "tests: Input should be a valid"),
    ],
)
def test_a_malformed_file_is_one_sentence(viva: Viva, passes: Passes, how: Callable[[Any], Any], why: str) -> None:
    early, late = map(of, passes)
    change(late, how)
    before = early.read_bytes()
    ran = viva("merge", early, late)
    assert ran.status == 1 and why in ran.sentence() and "\x1b" not in ran.err
    assert early.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["early"], "merge joins two results or more"),
        (["early", "late/class/ada/results.json"], "Some of these are folders and others files"),
        (["early", "nowhere"], "nowhere: no such file or folder"),
        (["nowhere.json", "early/class/ada/results.json"], "nowhere.json cannot be read"),
        (["class", "early"], "class: no such file or folder"),
    ],
)
def test_what_cannot_be_merged_is_told(viva: Viva, passes: Passes, arguments: list[str], why: str) -> None:
    ran = viva("merge", *arguments)
    assert ran.status == 1 and why in ran.sentence()
