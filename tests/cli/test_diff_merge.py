"""`viva diff` and `viva merge`: files and folders, written whole, one sentence for what does not fit.

Which grade of two is kept, and what does not belong together, is shown in tests/formats/test_merge.py.
"""

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import (
    KEEPS_CASE,
    RIGHT,
    SECRET,
    SETTINGS_FILE,
    TESTS,
    TESTS_FILE,
    edit,
    hand_in,
    write_course,
)
from viva.cli.main import run

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


def test_diff_of_two_results(viva: Viva, tmp_path: Path) -> None:
    hand_in(tmp_path / "bob", KEEPS_CASE)
    viva("grade", "bob", "-o", "before.json")
    hand_in(tmp_path / "bob", RIGHT)
    viva("grade", "bob", "-o", "after.json")
    ran = viva("diff", "before.json", "after.json")
    assert (ran.status, ran.err) == (1, "")
    assert ran.out.splitlines() == [
        "after.json",
        "  3 of 9 points, 1 more pending → 9 of 9 points, 1 more pending (+6)",
        "  test_words.py::test_word_counts: failed 0 / 4 → passed 4 / 4 (+4)",
        "  test_words.py::test_random_texts: failed 0 / 2 → passed 2 / 2 (+2)",
        "  the submission itself is not the same",
        "1 of 1 results differ.",
    ]
    assert "    A: word_counts('The cat" in viva("diff", "before.json", "after.json", "--verbose").out
    ran = viva("diff", "after.json", "after.json")
    assert (ran.status, ran.out) == (0, "0 of 1 results differ.\n")


def test_diff_of_two_folders(viva: Viva, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, source in {"ada": RIGHT, "bob": KEEPS_CASE, "eve": RIGHT}.items():
        hand_in(tmp_path / name, source)
    viva("grade", "ada", "bob", "-o", "one")
    monkeypatch.setenv("VIVA_SECRET", SECRET + " of another year")
    hand_in(tmp_path / "bob", RIGHT)
    viva("grade", "bob", "eve", "-o", "two")
    ran = viva("diff", "one", "two", "--csv", "changes.csv")
    assert ran.status == 1
    assert ran.out.startswith("bob/results.json\n  3 of 9 points")  # what changed most comes first
    for told in (
        "1 with more points, 0 with fewer, +6 points.\n",
        "ada/results.json\n  only in A: 9 of 9 points, 1 more pending\n",
        "eve/results.json\n  only in B: 9 of 9 points, 1 more pending\n",
        "made with another seed",
        "3 of 3 results differ.\n",
    ):
        assert told in ran.out
    rows = csv.DictReader((tmp_path / "changes.csv").read_text("utf-8").splitlines())
    assert {row["result"] for row in rows} == {f"{name}/results.json" for name in ("ada", "bob", "eve")}


# --- merge


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders `early` and `late`: two submissions graded without and with the test that trains."""
    root = tmp_path_factory.mktemp("passes")
    course = write_course(root / "course")
    (course / TESTS_FILE).write_text("import pytest\nfrom viva.plugins import training\n" + TESTS + TRAINS, "utf-8")
    edit(course / SETTINGS_FILE, "points: 10", "points: 13")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VIVA_SECRET", SECRET)
        patch.chdir(root)
        for name, source in {"ada": RIGHT, "bob": KEEPS_CASE}.items():
            hand_in(Path("class") / name, source)
        common = ["grade", "class/ada", "class/bob", "--course", str(course), "--tier", "best", "--workers", "1"]
        assert run([*common, "--no-training", "-o", "early"]) == run([*common, "--only", "3.1", "-o", "late"]) == 0
    return root


@pytest.fixture
def passes(graded: Path, tmp_path: Path) -> Passes:
    """The two folders, the test's own to change; the current folder is above them."""
    for name in ("early", "late"):
        shutil.copytree(graded / name, tmp_path / name)
    return tmp_path / "early", tmp_path / "late"


def result_file(folder: Path, who: str = "ada") -> Path:
    return folder / "class" / who / "results.json"


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def test_merge_of_two_files(viva: Viva, passes: Passes, tmp_path: Path) -> None:
    early, late = map(result_file, passes)
    before = early.read_bytes(), late.read_bytes()
    ran = viva("merge", early, late, "-o", tmp_path / "all.json")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == f"{tmp_path / 'all.json'}: 1 grade taken, 12 of 12 points, 1 more pending\n"
    assert (early.read_bytes(), late.read_bytes()) == before
    assert read(tmp_path / "all.json")["score"] == 12


def test_merge_without_an_output_completes_the_first(viva: Viva, passes: Passes) -> None:
    early, late = map(result_file, passes)
    assert viva("merge", early, late).status == 0
    once, written = early.read_bytes(), early.stat().st_mtime_ns
    ran = viva("merge", early, late, early)
    assert "0 grades taken, 12 of 12 points" in ran.out
    assert (early.read_bytes(), early.stat().st_mtime_ns) == (once, written)
    result = read(late)
    (test,) = result["tests"]
    test.update(score=0.0, status="failed")
    test["extra_data"].update(status="failed", earned="0")
    result["score"], result["extra_data"]["earned"] = 0.0, "0"
    late.write_text(json.dumps(result), "utf-8")
    ran = viva("merge", early, late)
    assert ran.status == 0 and early.read_bytes() == once
    difference = f"test_it_learns: passed 3 / 3 in {early}, failed 0 / 3 in {late}; {early}'s was kept."
    assert difference in " ".join(ran.out.split())


def test_merge_of_two_folders(viva: Viva, passes: Passes, tmp_path: Path) -> None:
    """Result by result; one pair that does not fit costs neither itself nor the others."""
    early, late = passes
    result_file(late, "bob").unlink()
    (late / "class/eve").mkdir()
    shutil.copy(result_file(late), result_file(late, "eve"))
    ran = viva("merge", early, late, "-o", tmp_path / "all")
    assert ran.status == 0 and ran.out.endswith("3 results merged.\n")
    assert read(result_file(tmp_path / "all"))["score"] == 12
    for curves in ("class/ada/curves.csv", "class/eve/curves.csv", "curves_words.csv"):
        assert "sums,2,9,9" in (tmp_path / "all" / curves).read_text("utf-8"), curves
    assert not (tmp_path / "all/class/bob/curves.csv").exists()
    assert result_file(tmp_path / "all", "bob").read_bytes() == result_file(early, "bob").read_bytes()
    assert result_file(tmp_path / "all", "eve").read_bytes() == result_file(late, "eve").read_bytes()
    shutil.copy(result_file(late), result_file(late, "bob"))
    ran = viva("merge", early, late, "-o", tmp_path / "more")
    assert ran.status == 1 and "different submissions" in ran.sentence()
    assert ran.out.endswith("2 results merged, 1 could not be.\n")
    assert read(result_file(tmp_path / "more"))["score"] == 12
    assert result_file(tmp_path / "more", "bob").read_bytes() == result_file(early, "bob").read_bytes()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda r: r["extra_data"].update(earned="9" * 5000), "extra_data.earned: String should match"),
        (lambda r: r["tests"][0]["extra_data"].update(earned="99"), "earned is more than extra_data.points"),
        (lambda r: r["extra_data"].update(assignment="other\x1b[2J"), "different assignments"),
    ],
)
def test_merge_of_a_malformed_file(viva: Viva, passes: Passes, change: Callable[[Any], Any], why: str) -> None:
    early, late = map(result_file, passes)
    result = read(late)
    change(result)
    late.write_text(json.dumps(result), "utf-8")
    before = early.read_bytes()
    ran = viva("merge", early, late)
    assert ran.status == 1 and why in ran.sentence() and "\x1b" not in ran.err
    assert early.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["early"], "merge joins two results or more"),
        (["early", "late/class/ada/results.json"], "Some of these are folders and others files"),
        (["nowhere.json", "early/class/ada/results.json"], "nowhere.json cannot be read"),
    ],
)
def test_wrong_merge(viva: Viva, passes: Passes, arguments: list[str], why: str) -> None:
    ran = viva("merge", *arguments)
    assert ran.status == 1 and why in ran.sentence()


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"score": 1e999}',
        "\0",
    ],
)
def test_hostile_result(viva: Viva, text: str) -> None:
    Path("x.json").write_text(text, "utf-8")
    for command in (("merge", "x.json", "x.json", "-o", "merged.json"), ("diff", "x.json", "x.json")):
        ran = viva(*command)
        assert ran.status == 1 and "Traceback" not in ran.err, ran.err


def test_merge_leaves_other_files_alone(viva: Viva, passes: Passes, tmp_path: Path) -> None:
    early, late = passes
    (tmp_path / "notes.json").write_text("mine", "utf-8")
    shutil.copy(result_file(late), tmp_path / "marked.json")
    for target, why in (
        (result_file(early, "bob"), "with the result of another submission"),
        (tmp_path / "notes.json", "is not a results.json of viva"),
        (tmp_path / "marked.json", "has a grade for test_words.py::test_it_learns that would be lost"),
    ):
        before = target.read_bytes()
        ran = viva("merge", result_file(early), result_file(early), "-o", target)
        assert ran.status == 1 and why in ran.sentence(), ran
        assert target.read_bytes() == before
    assert "it is a folder" in viva("merge", result_file(early), result_file(early), "-o", tmp_path).sentence()
