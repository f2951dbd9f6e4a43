"""`viva release A --to DIR`: the folder that students get, checked before it is written."""

import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
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
from viva.plugins.release.key_answers import Side, join_recordings, record_key, right_submissions
from viva.plugins.release.key_recording import KeyRecording
from viva.plugins.release.leak_search import Secrets, decoded
from viva.plugins.release.release_files import released_files, starter_files
from viva.plugins.release.release_proof import STARTER_FAILS, compare_courses
from viva.plugins.release.released_folder import check_new, course_files, write_files, write_new
from viva.plugins.release.wheel import wheel
from viva.plugins.verify.expected_verdicts import ExampleSubmission, example_submissions
from viva.plugins.verify.last_verification import LastVerification
from viva.submissions.open_submission import digest

_SHOWN: Final = 8
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
        check_new(folder)
        if self.assignment.suite is not None:
            raise CourseError(
                f"{self.assignment.name}: the tests of a suite ({self.assignment.suite}) need no key, so that there is "
                "nothing to record; hand out the visible ones as they are."
            )
        starter = starter_files(self.assignment)
        examples = example_submissions(self.course, self.assignment)
        self.examples = [*(k for k in examples if k.name != "starter"), _as_example(starter)]
        found = self._verify()
        self.say("Recording what the tests ask the key …")
        first, second, *_ = right_submissions(self.assignment, self.examples)
        entries = found[first.name].entries
        offered = [e.test_id for e in entries if not _reason_to_keep(e, self.assignment, set())]
        of_second, of_starter = self._record(second, offered), self._record(self.examples[-1], offered)
        by_hand = set() if self.assignment.release.answers else _answered_by_hand(entries, of_second, of_starter)
        summary = self._choose(entries, by_hand)
        tests = [entry.test_id for entry in summary.tests]
        recorded = join_recordings(tests, self._record(first, tests), of_second, of_starter)
        if recorded.unfit:
            raise CourseError(self._describe_unfit(recorded.unfit))
        recorded.record.left_out = {why: str(points) for why, points in summary.left_out.items()}
        course_folder = course_files(self.course, self.assignment, _by_file(tests), recorded.record, starter)
        summary.files = {f"{RELEASED}/{path}": data for path, data in course_folder.items()}
        place, own_wheel = self._viva()
        summary.files |= released_files(self.assignment, starter, place)
        self.say("Proving what is released …")
        if leaks := self._secrets(summary.files, of_second, recorded.record, set(tests)).find_in(summary.files):
            what = "what would be released tells what only graders may know"
            raise CourseError(f"{self.assignment.name}: {what}.\n{_list(leaks)}")
        self._prove(course_folder, tests, found)
        summary.files |= own_wheel  # after the search: it holds the engine alone, which anyone may read
        write_new(folder, summary.files)
        return summary

    def _record(self, example: ExampleSubmission, tests: Sequence[str]) -> KeyRecording:
        """Record what tests ask the key about a submission."""
        options = GradeOptions(only=tuple(tests), visible_only=True, training=False)
        return record_key(Side(self.course, self.assignment, self.tier, self.secret, options), example)

    def _viva(self) -> tuple[str, dict[str, bytes]]:
        """Return what students install as viva, as pip understands it, and the wheel if that is one in the folder."""
        if self.viva_from:
            return f"{DISTRIBUTION} @ {self.viva_from}", {}
        name, built = wheel()
        return f"./{RELEASED}/{name}", {f"{RELEASED}/{name}": built}

    def _verify(self) -> dict[str, Score]:
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

    def _choose(self, entries: Sequence[Entry], by_hand: Set[str]) -> ReleaseSummary:
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

    def _describe_unfit(self, unfit: dict[str, str]) -> str:
        tests = ", ".join(test.partition("::")[2] for test in unfit)
        return (
            f"{self.assignment.name}: {len(unfit)} public tests cannot be released, because students have no key:\n"
            + _list([f"{test.partition('::')[2]}: {why}" for test, why in unfit.items()])
            + f"\nMake them hidden, or write into assignment.yaml\n  release: {{withhold: [{tests}]}}"
        )

    def _prove(self, course_folder: dict[str, bytes], tests: list[str], found: dict[str, Score]) -> None:
        with tempfile.TemporaryDirectory(prefix="viva-release-") as name:
            write_files(Path(name), course_folder)
            released = load_course(Path(name))
            options = GradeOptions(only=tuple(tests), visible_only=True, training=False, explain=False)
            without_secret = b"a student has no secret"
            wrong = compare_courses(
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


def _answered_by_hand(entries: Sequence[Entry], other: KeyRecording, starter: KeyRecording) -> set[str]:
    """Return the tests of answers that are not code.

    These are the tests that look up answers in the key, and those that read answers of the submission, except what is
    left to a person without asking the key.

    Args:
        entries: all tests, as a right submission was graded.
        other: what they asked about another right submission.
        starter: what they asked about the starter.
    """
    graded_by_person = {entry.test_id for entry in entries if entry.status is Status.NEEDS_REVIEW}
    readers = {
        case
        for case in other.answer_readers | starter.answer_readers
        if case in other.asked or test_of(case) not in graded_by_person
    }
    return {test_of(case) for case in other.looked_up | readers}


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
