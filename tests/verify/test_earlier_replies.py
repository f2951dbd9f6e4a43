"""A verification uses what programs replied in the last one: each verdict is the one that a fresh run gives."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.course_of_texts import without_times
from tests.support.release_course import RIGHT, SECRET, write_course
from viva.config import Course, load_course
from viva.model import Status, Tier
from viva.pipeline.jobs import GradedJobs, Job
from viva.pipeline.local_pool import LocalPool
from viva.verify.earlier_replies import Verified
from viva.verify.last_verification import LastVerification
from viva.verify.verify_course import Finding, verify

pytestmark = pytest.mark.long
Ran = dict[str, tuple[str, ...] | None]
"""By submission whose program ran, the tests that were asked; None for all."""


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Finding]]:
    """A course with a hanging and a wrong submission, and what its verification found."""
    root = tmp_path_factory.mktemp("earlier") / "course"
    write_course(root, settings="limits: {call_s: 0.5}\n")
    submissions = root / "fixtures/sums/submissions"
    for name, code in {
        "wrong/off_by_one": RIGHT.replace("sum(numbers)", "sum(numbers) + 1"),
        "timeout/endless": RIGHT.replace("return sorted(words)", "while True: pass"),
        "partial/slow_once": RIGHT.replace("return min(numbers)", "while True: pass"),
    }.items():
        (submissions / name).mkdir(parents=True)
        (submissions / name / "solution.py").write_text(code)
    return root, _verified(load_course(root))


@pytest.fixture
def course(original: tuple[Path, list[Finding]], tmp_path: Path) -> Path:
    return shutil.copytree(original[0], tmp_path / "course")


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> Ran:
    found: Ran = {}
    run = LocalPool.run

    def noting(self: LocalPool, jobs: Sequence[Job]) -> GradedJobs:
        if not self.boxes.replay_only:
            found.update({job.name: job.options.only if job.options else None for job in jobs})
        return run(self, jobs)

    monkeypatch.setattr(LocalPool, "run", noting)
    return found


def _verified(
    course: Course, earlier: dict[str, Verified] | None = None, *, with_mutants: bool = False
) -> list[Finding]:
    assignments, known = [course.assignment("sums")], {"sums": earlier or {}}
    ((_, findings),) = verify(
        course, assignments, Tier.T0, SECRET, with_mutants=with_mutants, call_logs=True, earlier=known
    )
    return findings


def _again(root: Path, findings: list[Finding]) -> list[Finding]:
    """Verify with the replies in these findings."""
    earlier = {f.what: f.verified for f in findings if f.verified is not None}
    return _verified(load_course(root), earlier)


def _scores(findings: list[Finding]) -> dict[str, Any]:
    return {f.what: without_times(f.score) for f in findings if f.score is not None}


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), "utf-8")


def test_nothing_changed(original: tuple[Path, list[Finding]], ran: Ran) -> None:
    again = _again(*original)
    assert set(ran) == {"partial/slow_once"}, "the limit of its test may have been raised"
    assert {f.what for f in again if f.replayed} >= {"key", "starter", "accepted/plain", "timeout/endless"}
    assert _scores(again) == _scores(original[1])
    assert [f.complaints for f in again] == [f.complaints for f in original[1]]


def test_changed_test(course: Path, original: tuple[Path, list[Finding]], ran: Ran) -> None:
    change(course / "graders/sums/test_sums.py", "SHOWN = [1, 2, 3]", "SHOWN = [1, 2, 4]")
    again = _again(course, original[1])
    tests = ("test_sums.py::test_sum", "test_sums.py::test_record")
    assert {name: only for name, only in ran.items() if only is not None} == {
        name: tests for name in ran if name != "partial/slow_once"
    }
    ran.clear()
    assert _scores(again) == _scores(_verified(load_course(course)))
    third = _again(course, again)
    assert set(ran) >= {"partial/slow_once"} and _scores(third) == _scores(again)
    assert [f.what for f in third if f.replayed] == [f.what for f in original[1] if f.what in _replayed(third)]


def _replayed(findings: list[Finding]) -> set[str]:
    return {f.what for f in findings if f.replayed}


def test_changed_key(course: Path, original: tuple[Path, list[Finding]], ran: Ran) -> None:
    change(course / "graders/sums/key.py", "return running_total(numbers)\n", "return running_total(numbers) + 1\n")
    again = {f.what: f for f in _again(course, original[1])}
    assert not set(ran) & {"accepted/plain", "accepted/other"} and "key" in ran, "the key is a submission as well"
    assert again["accepted/plain"].complaints
    assert again["wrong/off_by_one"].complaints, "it is right now"


def test_changed_submission(course: Path, original: tuple[Path, list[Finding]], ran: Ran) -> None:
    change(course / "fixtures/sums/submissions/wrong/off_by_one/solution.py", "sum(numbers) + 1", "sum(numbers)")
    again = {f.what: f for f in _again(course, original[1])}
    assert ran == {"partial/slow_once": None, "wrong/off_by_one": None}
    assert again["wrong/off_by_one"].complaints
    score = again["partial/slow_once"].score
    assert score is not None and Status.TIMEOUT in {entry.status for entry in score.entries}


def test_mutants_are_not_run_again(course: Path, ran: Ran) -> None:
    read = load_course(course)
    first = _verified(read, with_mutants=True)
    mutants = {f.what for f in first if f.is_mutant}
    assert mutants and mutants <= set(ran)
    ran.clear()
    earlier = {f.what: f.verified for f in first if f.verified is not None}
    again = _verified(read, earlier, with_mutants=True)
    assert not mutants & set(ran)
    assert [(f.what, f.complaints) for f in again] == [(f.what, f.complaints) for f in first]


def test_replies_with_complaints(course: Path, original: tuple[Path, list[Finding]]) -> None:
    read = load_course(course)
    last = LastVerification(read, read.assignment("sums"), Tier.T0, SECRET)
    last.remember([*original[1][:-1], replace(original[1][-1], complaints=("it gets too much",))])
    assert last.recall() is None and last.replies().keys() >= {"key", "starter", "accepted/plain"}


def test_replies_and_changes(course: Path, original: tuple[Path, list[Finding]]) -> None:
    def last(tier: Tier = Tier.T0) -> LastVerification:
        read = load_course(course)
        return LastVerification(read, read.assignment("sums"), tier, SECRET)

    last().remember(original[1])
    assert last().replies() == last().recall() != {}
    for path in ("graders/sums/test_sums.py", "graders/sums/key.py", "assignments/sums/handout.md"):
        (course / path).write_text((course / path).read_text() + "\n# changed\n")
    assert last().recall() is None and "accepted/plain" in last().replies()
    assert last(Tier.T1).replies() == {}
    settings = course / "assignments/sums/assignment.yaml"
    settings.write_text(f"{settings.read_text()}title: Other sums\n".replace("title: Sums\n", ""))
    assert last().replies() == {}
