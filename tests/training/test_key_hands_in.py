"""The answer key submits what students submit next to code."""

from pathlib import Path

from tests.support.course_of_texts import NAME, write_course
from viva.verify.expected_verdicts import key_submission


def test_key_submits_files(tmp_path: Path) -> None:
    course = write_course(tmp_path, tests="", key="def two(): return 2\n")
    alone = key_submission(course, course.assignment(NAME))
    folder = tmp_path / "graders" / NAME / "handed_in"
    (folder / "runs").mkdir(parents=True)
    (folder / "predictions.csv").write_bytes(b"0\n1\n")
    (folder / "runs" / "log.csv").write_bytes(b"epoch\n1\n")
    found = key_submission(course, course.assignment(NAME))
    assert {f.path: f.data for f in found.files} == {
        **{f.path: f.data for f in alone.files}, "predictions.csv": b"0\n1\n", "runs/log.csv": b"epoch\n1\n",
    }  # fmt: skip
    assert found.content_hash != alone.content_hash
