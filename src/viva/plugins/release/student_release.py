"""`viva release A --to DIR`: the folder that students get, checked before it is written."""

import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Final

from viva.config import Assignment, Course, load_course
from viva.config.find_course import RELEASED
from viva.examiner.recorded_key.record import RECORD, Record
from viva.model import Entry, File, Score, Status, Submission, Tier
from viva.model.errors import CourseError
from viva.model.extras import DISTRIBUTION
from viva.model.grade_request import GradeOptions
from viva.model.score import test_of
from viva.plugins.release import KEY_RECORDER, release_proof
from viva.plugins.release.key_answers import KeyAnswers, KeyRecorder, key_answers, right_submissions
from viva.plugins.release.key_recorder.key_recording import KeyRecording
from viva.plugins.release.leak_search import Secrets, decoded
from viva.plugins.release.release_files import released_files, starter_files
from viva.plugins.release.release_proof import STARTER_FAILS, Side
from viva.plugins.release.released_folder import ReleasedFolder, course_files
from viva.plugins.release.wheel import wheel
from viva.plugins.verify.expected_verdicts import ExampleSubmission, example_submissions
from viva.plugins.verify.last_verification import LastVerification
from viva.submissions.open_submission import digest

_SHOWN: Final = 8
_AT_ONCE: Final = 2
"""Examiners that record at once."""
HIDDEN: Final = "hidden tests"
WITHHELD: Final = "tests that only the graders can run"
TRAINING: Final = "tests that train or need a GPU"
ANSWERS: Final = "answers that are graded after submission"
WHY: Final = {
    HIDDEN: "no one may know their inputs",
    WITHHELD: "they are under `release: withhold`",
    TRAINING: "labels and thresholds stay with you",
    ANSWERS: "what they are compared with stays with you",
}


@dataclass(slots=True)
class ReleaseSummary:
    """What the author reads when the release is done."""

    files: dict[str, bytes] = field(default_factory=dict)
    tests: list[Entry] = field(default_factory=list)
    """Those that are released."""
    left_out: dict[str, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    """Why other tests are not released -> their points."""


@dataclass(slots=True)
class Release:
    """One release that is being made."""

    course: Course
    assignment: Assignment
    tier: Tier
    secret: bytes
    say: Callable[[str], None] = lambda _: None
    """Called with what is being done, a line at a time."""
    viva_from: str = ""
    """Where students install viva from, as pip understands it; empty for a wheel in the folder."""
    examples: list[ExampleSubmission] = field(default_factory=list)

    def to(self, folder: Path) -> ReleaseSummary:
        """Make the folder.

        Raises:
            CourseError: the assignment does not verify, a public test cannot be released, the starter does not run, or
                something that only graders may know would be in the folder; nothing is written.
            UsageError: the folder holds something.
        """
        ReleasedFolder().check(folder)
        if self.assignment.suite is not None:
            raise CourseError(
                f"{self.assignment.name}: the tests of a suite ({self.assignment.suite}) need no key, so that there is "
                "nothing to record; hand out the visible ones as they are."
            )
        starter = starter_files(self.assignment)
        examples = example_submissions(self.course, self.assignment)
        self.examples = [*(k for k in examples if k.name != "starter"), _as_example(starter)]
        found = self._verified()
        self.say("Recording what the tests ask the key …")
        with ThreadPoolExecutor(_AT_ONCE) as pool:  # an examiner waits for its boxes most of the time
            recording = _Recording(self, found, pool)
            summary = self._chosen(recording.entries, recording.by_hand())
            tests = [entry.test_id for entry in summary.tests]
            recorded = recording.answers(tests)
            if recorded.unfit:
                raise CourseError(self._unfit(recorded.unfit))
            recorded.record.left_out = {why: str(points) for why, points in summary.left_out.items()}
            course_folder = course_files(self.course, self.assignment, _by_file(tests), recorded.record, starter)
            summary.files = {f"{RELEASED}/{path}": data for path, data in course_folder.items()}
            place, own_wheel = self._viva()
            summary.files |= released_files(self.assignment, starter, place)
            self.say("Proving what is released …")
            secrets = self._secrets(summary.files, recording.other(), recorded.record, set(tests))
            leaks = pool.submit(secrets.found_in, dict(summary.files))
            self._prove(course_folder, tests, found)
            if leaks.result():
                what = "what would be released tells what only graders may know"
                raise CourseError(f"{self.assignment.name}: {what}.\n{_list(leaks.result())}")
        summary.files |= own_wheel  # after the search: it holds the engine alone, which anyone may read
        ReleasedFolder(summary.files).write(folder)
        return summary

    def _viva(self) -> tuple[str, dict[str, bytes]]:
        """Return what students install as viva, as pip understands it, and the wheel if that is one in the folder."""
        if self.viva_from:
            return f"{DISTRIBUTION} @ {self.viva_from}", {}
        name, built = wheel()
        return f"./{RELEASED}/{name}", {f"{RELEASED}/{name}": built}

    def _verified(self) -> dict[str, Score]:
        """Return what the example submissions got: in the last verification, if nothing has changed since, or now."""
        last = LastVerification(self.course, self.assignment, self.tier, self.secret)
        recalled = last.recall()
        if recalled is not None:
            self.say("Nothing has changed since the assignment was verified.")
            return recalled
        self.say("Verifying the assignment …")
        found, wrong = last.verify()
        if wrong:
            raise CourseError(f"{self.assignment.name} does not verify, and is not released.\n{_list(wrong)}")
        return found

    def _chosen(self, entries: Sequence[Entry], by_hand: Set[str]) -> ReleaseSummary:
        """Return which tests are released, and why the others are not."""
        summary = ReleaseSummary()
        for entry in entries:
            if why := _reason_to_keep(entry, self.assignment, by_hand):
                summary.left_out[why] += entry.points
            else:
                summary.tests.append(entry)
        if not summary.tests:
            raise CourseError(f"{self.assignment.name}: there is no test that could be released; make some visible.")
        return summary

    def _unfit(self, unfit: dict[str, str]) -> str:
        tests = ", ".join(test.partition("::")[2] for test in unfit)
        return (
            f"{self.assignment.name}: {len(unfit)} public tests cannot be released, because students have no key:\n"
            + _list([f"{test.partition('::')[2]}: {why}" for test, why in unfit.items()])
            + f"\nMake them hidden, or write into assignment.yaml\n  release: {{withhold: [{tests}]}}"
        )

    def _prove(self, course_folder: dict[str, bytes], tests: list[str], found: dict[str, Score]) -> None:
        with tempfile.TemporaryDirectory(prefix="viva-release-") as name:
            ReleasedFolder(course_folder).write_into(Path(name))
            released = load_course(Path(name))
            options = GradeOptions(only=tuple(tests), visible_only=True, training=False, explain=False)
            without_secret = b"a student has no secret"
            wrong = release_proof.complaints(
                Side(self.course, self.assignment, self.tier, self.secret, options),
                Side(released, released.assignment(self.assignment.name), self.tier, without_secret, options),
                self.examples,
                found,
            )
        if wrong:
            about_tests = any(not line.startswith(STARTER_FAILS) for line in wrong)
            advice = (
                "\n`release: {withhold: [test_…]}` in assignment.yaml keeps a test that needs the key." * about_tests
            )
            raise CourseError(f"{self.assignment.name}: what would be released does not hold.\n{_list(wrong)}{advice}")

    def _secrets(self, files: Mapping[str, bytes], other: KeyRecording, recorded: Record, tests: Set[str]) -> Secrets:
        """Return what only graders may know, which the files must not hold.

        Args:
            files: what is to be released.
            other: what the public tests asked the key about another right submission than that of the record.
            recorded: the record that is released.
            tests: the released tests.
        """
        graders = self.assignment.graders
        code = {path: data.decode() for path, data in files.items() if path.endswith(".py")}
        own = f"{RELEASED}/graders/{self.assignment.name}/test_"
        shown = "\n".join(
            text
            for path, data in files.items()
            if not path.endswith(RECORD) and not path.startswith(own)
            for text in decoded(path, data)
        )
        secrets = Secrets(dict.fromkeys(_spellings(self.secret), "the secret of the course"))
        secrets.add_code([graders / "key.py", *(self.course.root / "reference").rglob("*.py")], shown)
        sources = {path.name: path.read_text("utf-8") for path in graders.glob("test_*.py")}
        shown += "\n".join(name for hints in recorded.hints.values() for name in hints)
        secrets.add_constants(sources, list(code.values()), shown)
        secrets.recorded = other.select_tests(tests)
        if not self.assignment.release.answers:
            secrets.hide_answers(other.by_hand, shown)
            secrets.add_models(self.assignment.rubric())
        return secrets


def _reason_to_keep(entry: Entry, assignment: Assignment, by_hand: Set[str]) -> str:
    """Return why a test is not released; empty if it is."""
    if entry.visibility != "visible":
        return HIDDEN
    if not entry.names.isdisjoint(assignment.release.withhold):
        return WITHHELD
    if entry.needs:
        return TRAINING
    return ANSWERS if entry.test_id in by_hand else ""


class _Recording:
    """The key's answers, recorded while other work goes on."""

    def __init__(self, release: Release, found: Mapping[str, Score], pool: Executor) -> None:
        """Begin to record what the public tests ask about two right submissions and the starter."""
        right = right_submissions(release.assignment, release.examples)
        self._first, starter = right[0], next(k for k in release.examples if k.name == "starter")
        self._pool = pool
        self._recorder = KeyRecorder(release.course, release.assignment, release.tier, release.secret)
        self.entries = found[self._first.name].entries
        """All tests, as the first right submission was graded."""
        self._answers_too = release.assignment.release.answers
        offered = [e.test_id for e in self.entries if not _reason_to_keep(e, release.assignment, set())]
        self._of_second, self._of_starter = (self._begun(example, offered) for example in (right[1], starter))

    def _begun(self, example: ExampleSubmission, tests: Sequence[str]) -> "Future[KeyRecording]":
        options = GradeOptions(only=tuple(tests), visible_only=True, training=False, interceptor=KEY_RECORDER)
        return self._pool.submit(self._recorder.of_submission, example, options)

    def by_hand(self) -> set[str]:
        """Return the tests of answers that are not code, unless what they compare with may be released.

        These are the tests that look up answers in the key, and those that read answers of the submission, except what
        is left to a person without asking the key.
        """
        if self._answers_too:
            return set()
        other, starter = self.other(), self._of_starter.result()
        graded_by_person = {entry.test_id for entry in self.entries if entry.status is Status.NEEDS_REVIEW}
        readers = {
            case
            for case in other.answer_readers | starter.answer_readers
            if case in other.asked or test_of(case) not in graded_by_person
        }
        return {test_of(case) for case in other.looked_up | readers}

    def other(self) -> KeyRecording:
        """Return what the public tests asked about the second right submission."""
        return self._of_second.result()

    def answers(self, tests: Sequence[str]) -> KeyAnswers:
        """Return the key's answers to the tests that are released, and to no others."""
        return key_answers(tests, self._begun(self._first, tests).result(), self.other(), self._of_starter.result())


def _as_example(starter: dict[str, bytes]) -> ExampleSubmission:
    """Return the starter that students get as a submission; it need not be a folder of the course."""
    files = tuple(File(path, data) for path, data in sorted(starter.items()))
    return ExampleSubmission("starter", "starter", Submission("starter", files, digest(files)))


def _spellings(secret: bytes) -> set[str]:
    """Return how a secret may be written."""
    return {secret.hex(), secret.decode("latin-1")}


def _by_file(tests: list[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for test in tests:
        file, _, function = test.partition("::")
        found[Path(file).name].add(function)
    return dict(found)


def _list(lines: list[str]) -> str:
    more = [f"  … and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return "\n".join([*(f"  {line}" for line in lines[:_SHOWN]), *more])
