"""The recipes for GitLab and Classroom 50, run as their runners would: the same commands, another place."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from tests.support.github_runner import ROOT, outputs_of
from tests.support.words_course import KEEPS_CASE, RIGHT, hand_in, write_course

pytestmark = pytest.mark.long

RUNNER = {
    "CLASSROOM": "nlp",
    "ASSIGNMENT": "words",
    "ASSIGNMENT_TYPE": "individual",
    "USERNAME": "ada",
    "OWNER": "ada",
    "SUBMISSION_TAG": "submit/2026-06-01T14-32-05Z-a1b2c3d",
    "COMMIT_URL": "https://github.com/o/r/commit/abc",
    "RELEASE_URL": "https://github.com/o/r/releases/tag/x",
    "REVIEW_URL": "https://github.com/o/r/compare/a...b",
}


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """What Classroom 50 unpacks: the script with the course next to it."""
    write_course(tmp_path / "bundle" / "course")
    (tmp_path / "bundle/autograder.py").write_bytes((ROOT / "docs/recipes/classroom50/autograder.py").read_bytes())
    return tmp_path / "bundle"


def autograder(bundle: Path, checkout: Path, environ: Mapping[str, str]) -> int:
    return subprocess.run(
        [sys.executable, bundle / "autograder.py"],
        cwd=checkout,
        env={"PATH": os.environ["PATH"], **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=600,
    ).returncode


def test_classroom50_result_and_page(bundle: Path, tmp_path: Path) -> None:
    mine = hand_in(tmp_path / "mine", KEEPS_CASE)
    (mine / "viva.py").write_text("raise SystemExit(9)")
    assert autograder(bundle, mine, RUNNER) == 0
    result = json.loads((mine / "result.json").read_bytes())
    assert (result["score"], result["max-score"], result["owner"]) == (300, 700, "ada")
    assert [test["passed"] for test in result["tests"]] == [False, True, True]
    assert (mine / "release-body.md").read_text().startswith("## ")
    assert "Random texts" not in (mine / "result.json").read_text() + (mine / "release-body.md").read_text()


def test_classroom50_without_a_grade(bundle: Path, tmp_path: Path) -> None:
    mine = hand_in(tmp_path / "mine", RIGHT)
    assert autograder(bundle, mine, {**RUNNER, "SUBMISSION_TAG": "main"}) == 1
    (bundle / "course/grader.yaml").unlink()
    assert autograder(bundle, mine, RUNNER) == 1
    assert not (mine / "result.json").exists()


@pytest.mark.parametrize(("source", "status"), [(RIGHT, 0), (KEEPS_CASE, 0), ("def", 0), (None, 1)])
def test_gitlab_reports(source: str | None, status: int, tmp_path: Path) -> None:
    (job,) = yaml.safe_load((ROOT / "docs/recipes/gitlab.yml").read_text("utf-8")).values()
    root = write_course(tmp_path / "course")
    if source is None:
        (root / "graders/words/key.py").write_text("def")
    mine = hand_in(tmp_path / "mine", source or RIGHT)
    lines = [line for line in job["script"] if "git clone" not in line and "venv" not in line and "pip" not in line]
    assert len(lines) == len(job["script"]) - 3
    script = "\n".join(lines).replace("/opt/viva/bin/viva grade", "/opt/viva/bin/viva grade --tier best")
    for there, here in (
        ("/opt/viva/bin/viva", f"{sys.executable} -I -m viva"),
        ("/opt/course", str(root)),
        ("/tmp/viva/", f"{tmp_path}/results/"),
    ):
        assert there in script
        script = script.replace(there, here)
    variables = {"PATH": os.environ["PATH"], **job["variables"], "ASSIGNMENT": "words"}
    ran = subprocess.run(["bash", "-e", "-c", script], cwd=mine, env=variables, capture_output=True, timeout=600)
    assert ran.returncode == status, ran.stdout + ran.stderr
    if source is None:
        assert b"viva: " in ran.stderr and not (mine / "viva.env").exists()
        return
    root_element = ElementTree.parse(mine / "viva-junit.xml").getroot()
    assert root_element.tag == "testsuites" and len(list(root_element.iter("testcase"))) == 4
    assert outputs_of((mine / "viva.env").read_text())["points"] == "8"
