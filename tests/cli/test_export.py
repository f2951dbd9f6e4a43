"""`viva export`: results as other programs read them, on the screen or in a file, and what cannot be exported."""

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import KEEPS_CASE, SECRET, hand_in
from viva.cli.main import run

RUNNER = {
    "CLASSROOM": "nlp",
    "ASSIGNMENT": "words",
    "USERNAME": "ada",
    "SUBMISSION_TAG": "submit/2026-06-01T14-32-05Z-a1b2c3d",
    "COMMIT_URL": "https://github.com/o/r/commit/abc",
    "RELEASE_URL": "https://github.com/o/r/releases/tag/x",
}


@pytest.fixture(scope="module")
def results(course: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a submission with one mistake, and of another one."""
    root = tmp_path_factory.mktemp("graded")
    hand_in(root / "ada", KEEPS_CASE)
    hand_in(root / "bob")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VIVA_SECRET", SECRET)
        patch.chdir(root)
        command = ["grade", "ada", "bob", "--course", str(course), "--tier", "best", "--workers", "1", "-o", "results"]
        assert run(command) == 0
    return root / "results"


@pytest.fixture
def result(results: Path) -> Path:
    return results / "ada" / "results.json"


@pytest.mark.parametrize("wanted", ["junit", "ctrf", "summary", "annotations", "outputs"])
def test_to_the_screen_or_to_a_file(wanted: str, result: Path, viva: Viva) -> None:
    shown = viva("export", result, "--to", wanted)
    assert (shown.status, shown.err) == (0, "") and shown.out
    assert viva("export", result, "--to", wanted, "-o", "file").status == 0
    written = Path("file").read_text("utf-8")
    assert "Random texts" not in written and "after_published" not in written
    if wanted != "annotations":  # which has a token that is never the same
        assert written == shown.out


def test_hidden_tests_only_when_asked_for(result: Path, viva: Viva) -> None:
    names = []
    for options in ((), ("--hidden",)):
        viva("export", result, "--to", "junit", "-o", "x.xml", *options)
        names.append({case.get("name") for case in ElementTree.parse("x.xml").iter("testcase")})
    assert names[1] - names[0] == {"1.1 Random texts are counted."} and names[0] < names[1]


def test_folder_is_exported_where_the_format_allows_it(results: Path, viva: Viva) -> None:
    assert viva("export", results, "--to", "ctrf", "-o", "class.json").status == 0
    report = json.loads(Path("class.json").read_bytes())
    assert len(report["results"]["extra"]["submissions"]) == 2
    ran = viva("export", results, "--to", "outputs")
    assert ran.status == 1 and "takes one result, and 2 were given" in ran.sentence()


def test_classroom50_names_its_student(result: Path, viva: Viva, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in RUNNER.items():
        monkeypatch.setenv(name, value)
    assert viva("export", result, "--to", "classroom50", "--scale", "10", "-o", "r.json").status == 0
    file = json.loads(Path("r.json").read_bytes())
    assert (file["owner"], file["score"], file["max-score"]) == ("ada", 30, 70)
    monkeypatch.delenv("SUBMISSION_TAG")
    ran = viva("export", result, "--to", "classroom50", "-o", "none.json")
    assert ran.status == 1 and "SUBMISSION_TAG" in ran.sentence() and not Path("none.json").exists()


def test_no_result(viva: Viva) -> None:
    Path("results.json").write_text('{"score": 1}')
    for path in ("results.json", "nothing.json", "nowhere"):
        ran = viva("export", path, "--to", "junit")
        assert ran.status == 1 and path in ran.sentence()
    assert viva("export", ".", "--to", "bogus").status == 1
