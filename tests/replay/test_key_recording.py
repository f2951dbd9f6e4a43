"""The record of a key as bytes: however much was asked, and whatever was answered."""

from pathlib import Path

import numpy as np
import pytest

from viva.examiner.recorded_key.record import Answer, Record, load_record, record_from
from viva.examiner.recorded_key.recorded_values import Unrecordable, digest, packed
from viva.model.errors import CourseError
from viva.plugins.release.key_recording import KeyRecording
from viva.sandbox.guest.transport.wire import CAPS


def test_answers_larger_than_one_message() -> None:
    """Each of them is far below the limit of a message; all together are above it."""
    recording, text = KeyRecording(case_id="test_a.py::test[]"), "x" * (CAPS.message_bytes // 4)
    for number in range(6):
        recording.note(digest("f", (number,), {}), Answer(f"{number} {text}"))
    recording.hints = {f"test_a.py::test[] {number}": {"a mistake": text} for number in range(6)}
    recording.by_hand = {str(number): text for number in range(6)}
    again = KeyRecording.from_plain(recording.to_plain())
    assert again.asked == recording.asked and again.hints == recording.hints and again.by_hand == recording.by_hand
    for number in range(6):
        answer = again.answer(digest("f", (number,), {}))
        assert answer is not None and answer.value == f"{number} {text}"


def test_record_comes_back() -> None:
    recording = KeyRecording(case_id="a[\ud800]", functions={"f", "g"}, seeds={"test a": 2**100}, seed_id="id")
    question = digest("f", (), {})
    answer = Answer({1: (2, {3.5})}, (([1],), {"k": None}), ("ValueError", "\ud800"), "printed")
    recording.note(question, answer)
    recording.complain("why")
    recording.note_value("f")
    recording.note_written_by_students(["f"])
    again = KeyRecording.from_plain(recording.to_plain())
    assert again.answer(question) == answer and again.answer(b"another") is None
    assert (again.functions, again.seeds, again.seed_id) == ({"f", "g"}, {"test a": 2**100}, "id")
    assert again.problems == {"a[\ud800]": ["why"]} and again.looked_up == {"a[\ud800]"}


def test_answers_are_copies() -> None:
    record, question = KeyRecording(), digest("f", (), {})
    value = [1, np.arange(3)]
    record.note(question, Answer(value))
    value.append("later")
    first = record.answer(question)
    assert first is not None and len(first.value) == 2
    first.value[1][0] = 7
    second = record.answer(question)
    assert second is not None and second.value[1][0] == 0


def test_two_answers_to_one_question() -> None:
    record, question = KeyRecording(case_id="a"), digest("f", (), {})
    record.note(question, Answer({1, 2}))
    record.note(question, Answer({2, 1}))
    assert record.problems == {}
    record.note(question, Answer({1, 3}))
    assert record.problems == {"a": ["the key answers the same question in two ways"]}
    with pytest.raises(Unrecordable):
        record.note(question, Answer(object()))


@pytest.mark.parametrize("data", [b"", b"\x93", packed([1, 2]), Record().to_bytes()[:-2], b"\xff" * 100])
def test_no_record(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "key.recorded").write_bytes(data)
    with pytest.raises(CourseError, match="is not a record of this version of viva; get the released folder again"):
        load_record(tmp_path / "key.recorded")
    assert record_from(Record().to_bytes()) == Record()
