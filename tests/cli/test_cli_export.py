"""`viva export`: results as other programs read them, on the screen or in a file, and what cannot be exported."""

import json
import os
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import KEEPS_CASE, hand_in

FORMATS = ["junit", "ctrf", "summary", "annotations", "outputs"]
RUNNER = {
    "CLASSROOM": "nlp",
    "ASSIGNMENT": "words",
    "USERNAME": "ada",
    "SUBMISSION_TAG": "submit/2026-06-01T14-32-05Z-a1b2c3d",
    "COMMIT_URL": "https://github.com/o/r/commit/abc",
    "RELEASE_URL": "https://github.com/o/r/releases/tag/x",
}


@pytest.fixture(scope="module")
def graded() -> dict[str, Path]:
    """Filled by the first test that grades: one class for all tests of this file."""
    return {}


@pytest.fixture
def result(viva: Viva, graded: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The result of a submission with one mistake, in a folder with another one."""
    if not graded:
        root = tmp_path_factory.mktemp("graded")
        hand_in(root / "class/ada", KEEPS_CASE)
        hand_in(root / "class/bob")
        assert viva("grade", root / "class/ada", "-o", root / "results/ada/results.json").status == 0
        assert viva("grade", root / "class/bob", "-o", root / "results/bob/results.json").status == 0
        graded["root"] = root / "results"
    return graded["root"] / "ada" / "results.json"


@pytest.mark.parametrize("wanted", FORMATS)
def test_every_format_goes_to_the_screen_or_to_a_file(wanted: str, result: Path, viva: Viva, tmp_path: Path) -> None:
    shown = viva("export", result, "--to", wanted)
    assert (shown.status, shown.err) == (0, "") and shown.out
    assert viva("export", result, "--to", wanted, "-o", tmp_path / "file").status == 0
    written = (tmp_path / "file").read_text("utf-8")
    assert "Random texts" not in written and "after_published" not in written
    if wanted != "annotations":  # which has a token that is never the same
        assert written == shown.out


def test_hidden_tests_are_exported_only_when_asked_for(result: Path, viva: Viva, tmp_path: Path) -> None:
    viva("export", result, "--to", "junit", "-o", tmp_path / "visible.xml")
    viva("export", result, "--to", "junit", "--hidden", "-o", tmp_path / "all.xml")
    some, everything = (
        {case.get("name") for case in ElementTree.parse(tmp_path / name).iter("testcase")}
        for name in ("visible.xml", "all.xml")
    )
    assert everything - some == {"1.1 Random texts are counted."} and some < everything


def test_folders_are_exported_whole(result: Path, viva: Viva, tmp_path: Path) -> None:
    assert viva("export", result.parents[1], "--to", "ctrf", "-o", tmp_path / "class.json").status == 0
    report = json.loads((tmp_path / "class.json").read_bytes())
    assert len(report["results"]["extra"]["submissions"]) == 2
    ran = viva("export", result.parents[1], "--to", "outputs")
    assert ran.status == 1 and "takes one result, and 2 were given" in ran.sentence()


def test_classroom50_takes_who_it_is_from_its_runner(
    result: Path, viva: Viva, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in RUNNER.items():
        monkeypatch.setenv(name, value)
    assert viva("export", result, "--to", "classroom50", "--scale", "10", "-o", tmp_path / "r.json").status == 0
    file = json.loads((tmp_path / "r.json").read_bytes())
    assert (file["owner"], file["score"], file["max-score"]) == ("ada", 30, 70)
    monkeypatch.delenv("SUBMISSION_TAG")
    ran = viva("export", result, "--to", "classroom50", "-o", tmp_path / "none.json")
    assert ran.status == 1 and "SUBMISSION_TAG" in ran.sentence() and not (tmp_path / "none.json").exists()


def test_what_is_no_result_is_refused_in_a_sentence(viva: Viva, tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text('{"score": 1}')
    for path in (tmp_path / "results.json", tmp_path / "nothing.json", tmp_path / "nowhere"):
        ran = viva("export", path, "--to", "junit")
        assert ran.status == 1 and str(path) in ran.sentence()
    assert viva("export", tmp_path, "--to", "bogus").status == 1


def test_grading_only_what_is_visible_needs_no_secret(
    viva: Viva, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VIVA_SECRET")
    mine = hand_in(tmp_path / "mine")
    ran = viva("grade", mine, "--visible-only", "-o", tmp_path / "r.json")
    assert (ran.status, ran.err) == (0, "")
    tests = json.loads((tmp_path / "r.json").read_bytes())["tests"]
    assert tests and {test["visibility"] for test in tests} == {"visible"}
    ran = viva("grade", mine, "-o", tmp_path / "all.json")
    assert ran.status == 1 and "VIVA_SECRET" in ran.sentence() and not (tmp_path / "all.json").exists()
    assert "VIVA_SECRET" not in os.environ
