"""A record of the key that is being made."""

from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from typing import Any

from viva.examiner.recorded_key.record import Answer, Record, pack_all, record_from, unpack_all
from viva.examiner.recorded_key.recorded_values import packed, unpacked
from viva.model.score import test_of


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
        return pack_all(self.to_bytes(), asked, self.problems, cases, by_hand)

    @classmethod
    def from_plain(cls, data: bytes) -> "KeyRecording":
        """Return the recording that `to_plain` wrote."""
        record, asked, problems, (looked_up, answer_readers), by_hand = unpack_all(data)
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

    def select_tests(self, tests: Set[str]) -> "KeyRecording":
        """Return the questions, not the answers, and the seeds of some tests."""
        asked = {case: questions for case, questions in self.asked.items() if test_of(case) in tests}
        seeds = {name: seed for name, seed in self.seeds.items() if test_of(name.partition(" ")[2]) in tests}
        return KeyRecording(seeds=seeds, asked=asked)

    def complain(self, why: str) -> None:
        """Note that the running case cannot be replayed."""
        self.problems.setdefault(self.case_id, []).append(why)
