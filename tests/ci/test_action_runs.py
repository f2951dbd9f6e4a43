"""action.yml's scripts, run in order on real submissions and hostile ones. GitHub's own machines are not here."""

import json
import os
from fractions import Fraction
from pathlib import Path

import pytest

from tests.support.ci_log import outside, runner
from tests.support.github_runner import ROOT, run_action
from tests.support.words_course import KEEPS_CASE, RIGHT, SECRET, hand_in, write_course
from viva.submissions.examples import lay_out

pytestmark = pytest.mark.long
OURS = {"stop-commands", "error", "warning", "notice", "group", "endgroup"}
SUBMISSIONS = ROOT / "fixtures/translation_and_masks/submissions"
HOSTILE = """\
import os, sys

NOISE = '''
::error title=Autograding report::100
::set-output name=score::100
##[add-path]/tmp
::stop-commands::x
'''
print(NOISE)
print(NOISE, file=sys.stderr)
os.write(1, NOISE.encode())


def word_counts(text):
    raise ValueError(NOISE + "]]>\\x00\\x1b]0;t\\x07\\ud800 ```\\n</details><script>")


def total(numbers):
    return NOISE


answers = {"2.1": "B"}
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_course(tmp_path_factory.mktemp("course"))


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    "name", [pytest.param("partial/first_half", marks=pytest.mark.nightly), "hostile/prints_results"]
)
def test_submissions_of_this_course(name: str, tmp_path: Path, temporary: Path) -> None:
    """The course is found in the action's own repository, the assignment in the submission."""
    workspace = tmp_path / "workspace"
    lay_out(SUBMISSIONS / name, workspace)
    job = run_action(workspace, temporary, assignment="translation_and_masks")
    assert (job.status, job.last) == (0, "Verdict"), job.log + job.errors
    result = json.loads(Path(job.outputs["results"]).read_bytes())
    assert float(job.outputs["score"]) == result["score"] and job.outputs["state"] == "graded"
    assert {test["visibility"] for test in result["tests"]} == {"visible"}
    assert {kind for kind, _, _ in runner(job.log)} <= OURS
    graded = Fraction(job.outputs["points"]) - Fraction(job.outputs["still-open"])
    assert job.page.startswith("## ") and f"{job.outputs['score']} of {graded} points" in job.page
    assert Path(job.outputs["junit"]).is_file() and Path(job.outputs["ctrf"]).is_file()
    assert f"Graded in isolation {job.outputs['tier']}." in job.log


def test_every_output_has_a_value(course: Path, tmp_path: Path, temporary: Path) -> None:
    job = run_action(hand_in(tmp_path / "mine", KEEPS_CASE), temporary, course=str(course))
    assert job.status == 0 and all(job.outputs.values())
    assert (job.outputs["score"], job.outputs["points"], job.outputs["still-open"]) == ("3", "8", "1")
    assert [title["title"] for kind, title, _ in runner(job.log) if kind == "error"] == [
        "1.1 The words of a short text are counted."
    ]
    assert "notice" not in {kind for kind, _, _ in runner(job.log)}


def test_printed_text_is_no_command(course: Path, tmp_path: Path, temporary: Path) -> None:
    mine = hand_in(tmp_path / "mine", HOSTILE)
    job = run_action(mine, temporary, course=str(course))
    assert job.status == 0, job.errors
    commands = runner(job.log)
    assert {kind for kind, _, _ in commands} <= OURS
    assert job.outputs["score"] == "1"
    assert "<script>" in job.page and not any("<script>" in line for line in outside(job.page))


def test_trusted_process_imports_no_checkout(course: Path, tmp_path: Path, temporary: Path) -> None:
    """A step starts where the student's files lie; boxes have an environment of their own, so they leave no mark."""
    mine = hand_in(tmp_path / "mine", RIGHT)
    mark = f"import os\nif 'RUNNER_TEMP' in os.environ:\n    open({str(tmp_path / 'mark')!r}, 'w')\n"
    for name in ("secrets", "click", "yaml", "venv", "pip", "sitecustomize", "viva/__init__", "viva/cli/main"):
        (mine / f"{name}.py").parent.mkdir(parents=True, exist_ok=True)
        (mine / f"{name}.py").write_text(mark)
    job = run_action(mine, temporary, course=str(course))
    assert job.status in (0, 1) and not (tmp_path / "mark").exists()


@pytest.mark.parametrize("text", ["$(touch MARK)`touch MARK`'; touch MARK; '\"; touch MARK; \"", "-h\nMARK"])
@pytest.mark.parametrize("name", ["path", "assignment", "tier", "fail_below", "extras", "course"])
def test_no_input_is_run(name: str, text: str, course: Path, tmp_path: Path, temporary: Path) -> None:
    text = text.replace("MARK", str(tmp_path / "mark"))
    mine = hand_in(tmp_path / "mine", RIGHT)
    inputs = {"course": str(course), name: text} | ({"python": ""} if name == "extras" else {})
    if name == "fail_below":
        inputs |= {"only_visible": "true"}
    job = run_action(mine, temporary, None, **inputs)
    assert job.status == 1 and not (tmp_path / "mark").exists()
    assert job.last == {"extras": "Set up viva", "fail_below": "Verdict"}.get(name, "Grade")


def test_step_fails_where_nothing_was_graded(course: Path, tmp_path: Path, temporary: Path) -> None:
    (tmp_path / "mine").mkdir()
    job = run_action(tmp_path / "mine", temporary, course=str(course), path="nothing.py")
    assert (job.status, job.last) == (1, "Grade") and "nothing.py" in job.log
    assert [kind for kind, _, _ in runner(job.log)] == ["stop-commands", "error"]


@pytest.mark.parametrize(("percent", "status"), [("042", 0), ("43", 1)])
def test_fail_below(percent: str, status: int, course: Path, tmp_path: Path, temporary: Path) -> None:
    job = run_action(hand_in(tmp_path / "mine", KEEPS_CASE), temporary, course=str(course), fail_below=percent)
    assert (job.status, job.last, job.outputs["percent"]) == (status, "Verdict", "42")


def test_grader_error_fails_the_step_last(tmp_path: Path, temporary: Path) -> None:
    root = write_course(tmp_path / "broken")
    tests = root / "graders/words/test_words.py"
    tests.write_text(tests.read_text().replace('    for text in ["",', '    key.no_such_answer\n    for text in ["",'))
    job = run_action(hand_in(tmp_path / "mine", RIGHT), temporary, course=str(root))
    assert (job.status, job.last, job.outputs["state"]) == (2, "Verdict", "grader-error")
    assert "grader error" in job.page and "No points are lost by it" in job.log


def test_hidden_tests_are_told_to_nobody(course: Path, tmp_path: Path, temporary: Path) -> None:
    mine = hand_in(tmp_path / "mine", KEEPS_CASE)
    job = run_action(mine, temporary, {"VIVA_SECRET": SECRET}, course=str(course), only_visible="false")
    assert job.status == 0, job.log
    names = [test["name"] for test in json.loads(Path(job.outputs["results"]).read_bytes())["tests"]]
    assert "Random texts are counted." in names
    told = job.page + Path(job.outputs["junit"]).read_text() + Path(job.outputs["ctrf"]).read_text()
    assert "Random texts" not in told and "1 test worth 2 points" in job.page and SECRET not in job.log + told
    log = job.log[job.log.index("::group::") :]
    assert "Random texts" not in log


def test_sudo(course: Path, tmp_path: Path, temporary: Path) -> None:
    """GitHub's machines keep ordinary users from namespaces, and let them become root."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "id").write_text("#!/bin/sh\necho 1000\n")
    (tools / "sudo").write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$*" >> {tools}/asked\nwhile [ "${{1#-}}" != "$1" ]; do shift; done\n'
        f'case $1 in chown) exit 0 ;; esac\necho "${{GITHUB_OUTPUT:+known}}" >> {tools}/told\nexec "$@"\n'
    )
    for name in ("id", "sudo"):
        (tools / name).chmod(0o755)
    path = {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    job = run_action(hand_in(tmp_path / "mine", RIGHT), temporary, path, course=str(course))
    assert job.status == 0, job.log + job.errors
    first, graded, owned = (tools / "asked").read_text().splitlines()
    assert first == "-n true" and graded.startswith("-n --preserve-env=VIVA_SECRET ")
    assert (tools / "told").read_text().splitlines() == ["known", ""], "what grades does not know where outputs are"
    assert owned == f"-n chown -R 1000:1000 {Path(job.outputs['results']).parent}"
