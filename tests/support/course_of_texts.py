"""A course made of texts and the examiner that grades with it, for tests of the whole way from bytes to score."""

import dataclasses
import hashlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import pytest

from viva.config import Course, load_course
from viva.model import Entry, File, Score, Submission, Tier
from viva.model.grade_request import Graded, GradeOptions, GradeRequest
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.sandbox.host.levels.detect_levels import detect_tiers

NAME: Final = "small"
SECRET: Final = b"the secret of a tiny course"


def best_tier() -> Tier:
    """The best that this host offers."""
    return next(report.tier for report in detect_tiers() if report.available)


def write_course(
    root: Path, *, tests: str, key: str, inside: str = "", settings: str = "", preload: str = "numpy"
) -> Course:
    """A course with one assignment, from the texts of its files; `settings` goes into assignment.yaml."""
    files = {
        "grader.yaml": f"course: tiny\nassignments: [{NAME}]\n",
        f"assignments/{NAME}/assignment.yaml": f"title: Small\npreload: [{preload}]\n{settings}",
        f"graders/{NAME}/test_{root.name.replace('-', '_')}.py": tests,
        f"graders/{NAME}/key.py": key,
    }
    if inside:
        files[f"graders/{NAME}/inside.py"] = inside
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return load_course(root)


def handed_in(files: str | Mapping[str, str | bytes], name: str = "somebody") -> Submission:
    """A submission from texts; one text is its solution.py."""
    given = {"solution.py": files} if isinstance(files, str) else files
    data = {path: text.encode() if isinstance(text, str) else text for path, text in sorted(given.items())}
    digest = hashlib.sha256(repr(data).encode()).hexdigest()
    return Submission(name, tuple(File(path, content) for path, content in data.items()), digest)


class Examined:
    """An examiner that is kept for several tests; as a context, it ends with it."""

    def __init__(self, course: Course, options: BoxOptions | None = None) -> None:
        self.course = course
        options = options or BoxOptions(best_tier())
        self.process = ExaminerProcess(course, course.assignment(NAME), SECRET, options)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.close()

    def grade(self, files: str | Mapping[str, str | bytes], options: GradeOptions) -> Graded:
        """Grade a submission with these options."""
        return self.process.grade(GradeRequest(handed_in(files), options))

    def graded(self, files: str | Mapping[str, str | bytes], *only: str, record: bool = False) -> Graded:
        """Grade a submission; `only` names the tests to ask."""
        return self.grade(files, GradeOptions(only=only or None, questions=record))

    def score(self, files: str | Mapping[str, str | bytes], *only: str) -> Score:
        """The score alone."""
        return self.graded(files, *only).score

    def entry(self, files: str | Mapping[str, str | bytes], only: str) -> Entry:
        """The entry of one test."""
        return by_name(self.score(files, only))[only]


def examiner_fixture(**texts: str) -> Callable[[pytest.TempPathFactory], Iterator[Examined]]:
    """Make a fixture of a test file: one examiner for all its tests, of the course that `write_course` makes of these.

    >>> examined = examiner_fixture(tests=TESTS, key=KEY)
    """

    @pytest.fixture(scope="module")
    def examined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Examined]:
        with Examined(write_course(tmp_path_factory.mktemp("examined"), **texts)) as examiner:
            yield examiner

    return examined


def by_name(score: Score) -> dict[str, Entry]:
    """Entries by the name of their function."""
    return {entry.test_id.partition("::")[2]: entry for entry in score.entries}


def statuses(score: Score) -> dict[str, str]:
    """Statuses by the name of the function."""
    return {name: str(entry.status) for name, entry in by_name(score).items()}


def without_times(score: Score) -> dict[str, Any]:
    """Everything of a score that must be the same each time."""
    plain = dataclasses.asdict(score)
    plain.pop("wall_s")
    for entry in plain["entries"]:
        for case in entry["cases"]:
            case.pop("wall_s")
    return plain


def read_by_students(score: Score) -> str:
    """Every text of a score that a student may read."""
    parts = [*score.notes, *(str(leader.value) for leader in score.leaderboard)]
    for entry in score.entries:
        parts += [entry.name, entry.number, entry.message, *(case.label for case in entry.cases)]
    return "\n".join(parts)
