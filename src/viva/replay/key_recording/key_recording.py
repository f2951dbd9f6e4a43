"""The record of a key: written while public tests run with the key, read where the key is not available."""

from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgpack

from viva.model.errors import CourseError, GraderError
from viva.model.score import test_of
from viva.replay.key_recording.recorded_values import packed, unpacked
from viva.sandbox.guest.transport.wire import WireError

NOT_RECORDED: Final = (
    "This could not be checked here: for what your code returned, the test needs the course's own answer key, "
    "which only the graders have."
)
RECORD: Final = "key.recorded"
"""The file's name in the folder of the graders."""
_FORMAT: Final = "viva key record 2"


class NotRecorded(GraderError):
    """A question that the key was not asked when it was recorded."""


@dataclass(slots=True)
class Answer:
    """The result of one call of the key."""

    value: Any = None
    after: tuple[tuple[Any, ...], dict[str, Any]] | None = None
    """The arguments after the call; None if nothing changed them."""
    raised: tuple[str, str] | None = None
    """The name and the text of its exception."""
    printed: str = ""


@dataclass(slots=True)
class Record:
    """Everything that replaces the key in a released folder."""

    answers: dict[bytes, bytes] = field(default_factory=dict)
    """By question (`recorded_values.digest`), the packed answers: a test reads few of the thousands there can be."""
    functions: set[str] = field(default_factory=set)
    """Names of the key's functions that were asked for."""
    seeds: dict[str, int] = field(default_factory=dict)
    """By purpose and case: what the `rng` fixture and the box draw from."""
    seed_id: str = ""
    hints: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By case and number of the comparison: the names of common mistakes, and the values they lead to."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Why tests of the assignment are not released -> their points, as a fraction."""
    case_id: str = ""
    """The case that is running; not stored."""

    def answer(self, question: bytes) -> Answer | None:
        """Return the answer to a question, decoded each time; None if the key was not asked it."""
        data = self.answers.get(question)
        return None if data is None else Answer(*unpacked(data))

    def to_bytes(self) -> bytes:
        """Return the contents of the file: values are packed one by one, because one alone has a limit of its size."""
        hints = {at: packed(of_case) for at, of_case in self.hints.items()}
        seeds = {name: str(seed) for name, seed in sorted(self.seeds.items())}
        answers = dict(sorted(self.answers.items()))
        return _packed_all(_FORMAT, answers, sorted(self.functions), seeds, self.seed_id, hints, self.left_out)


@dataclass(slots=True)
class KeyRecording(Record):
    """A record that is being made: also which case asked what, and what could not be recorded."""

    asked: dict[str, set[bytes]] = field(default_factory=dict)
    problems: dict[str, list[str]] = field(default_factory=dict)
    looked_up: set[str] = field(default_factory=set)
    """Cases that looked up an answer: in a table of the key, such as its `answers`, or a value that students write."""
    answer_readers: set[str] = field(default_factory=set)
    """Cases that read `submission.answers`."""
    values: dict[str, set[str]] = field(default_factory=dict)
    """By name, the cases that read a value of the key, or called a function without arguments; not stored."""
    by_hand: dict[str, Any] = field(default_factory=dict)
    """All of the key's `answers`, asked or not: what a released folder is searched for."""

    def note(self, question: bytes, answer: Answer) -> None:
        """Record an answer.

        Raises:
            Unrecordable: some part of it has no plain form, or it is too large.
        """
        data = packed((answer.value, answer.after, answer.raised, answer.printed))
        if self.answers.setdefault(question, data) != data:
            self.complain("the key answers the same question in two ways")
        self.asked.setdefault(self.case_id, set()).add(question)

    def to_plain(self) -> bytes:
        """Return the recording as bytes, to send it out of the examiner."""
        asked = {case: sorted(questions) for case, questions in self.asked.items()}
        by_hand = {name: packed(answer) for name, answer in self.by_hand.items()}
        cases = sorted(self.looked_up), sorted(self.answer_readers)
        return _packed_all(self.to_bytes(), asked, self.problems, cases, by_hand)

    @classmethod
    def from_plain(cls, data: bytes) -> "KeyRecording":
        """Return the recording that `to_plain` wrote."""
        record, asked, problems, (looked_up, answer_readers), by_hand = _unpacked_all(data)
        read = record_from(record)
        made = cls(read.answers, read.functions, read.seeds, read.seed_id, read.hints)
        made.asked = {case: set(questions) for case, questions in asked.items()}
        made.problems, made.looked_up, made.answer_readers = problems, set(looked_up), set(answer_readers)
        made.by_hand = {name: unpacked(answer) for name, answer in by_hand.items()}
        return made

    def note_value(self, name: str) -> None:
        """Note that the running case read a value of the key, which the record holds."""
        self.values.setdefault(name, set()).add(self.case_id)

    def note_written_by_students(self, names: Iterable[str]) -> None:
        """Count reading a value of the key as looking up an answer, if students write a value of that name."""
        for name in names:
            self.looked_up |= self.values.get(name, set())

    def of_tests(self, tests: Set[str]) -> "KeyRecording":
        """Return the questions, not the answers, and the seeds of some tests."""
        asked = {case: questions for case, questions in self.asked.items() if test_of(case) in tests}
        seeds = {name: seed for name, seed in self.seeds.items() if test_of(name.partition(" ")[2]) in tests}
        return KeyRecording(seeds=seeds, asked=asked)

    def complain(self, why: str) -> None:
        """Note that the running case cannot be replayed."""
        self.problems.setdefault(self.case_id, []).append(why)


def record_from(data: bytes) -> Record:
    """Read a record; raise WireError, ValueError, TypeError or AttributeError if it is not one."""
    form, answers, functions, seeds, seed_id, hints, left_out = _unpacked_all(data)
    if form != _FORMAT:
        raise ValueError(form)
    return Record(
        dict(answers),
        set(functions),
        {name: int(seed) for name, seed in seeds.items()},
        seed_id,
        {at: unpacked(of_case) for at, of_case in hints.items()},
        {str(why): str(points) for why, points in left_out.items()},
    )


def load_record(path: Path) -> Record:
    """Read a record from a file.

    Raises:
        CourseError: it is missing or is not a record.
    """
    try:
        return record_from(path.read_bytes())
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}; get the released folder once more.") from error
    except (WireError, ValueError, TypeError, AttributeError) as error:
        raise CourseError(f"{path} is not a record of this version of viva; get the released folder again.") from error


def _packed_all(*parts: object) -> bytes:
    """Return the parts as bytes. Unlike one packed value, they have no size limit."""
    data: bytes = msgpack.packb(parts, unicode_errors="surrogatepass")
    return data


def _unpacked_all(data: bytes) -> Any:
    return msgpack.unpackb(data, unicode_errors="surrogatepass")
