"""The interceptor that records the key: what tests ask it and what it answers, the seeds, and the hints."""

import contextlib
import copy
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from viva.examiner.interceptor import Answers, Interceptor
from viva.examiner.recorded_key.record import Answer
from viva.examiner.recorded_key.recorded_hints import ComparisonCounter
from viva.examiner.recorded_key.recorded_values import Unrecordable, digest, packed
from viva.model.seeds import Seeds
from viva.plugins.release.key_recording import KeyRecording
from viva.proxies.key import Key, KeyFunction, NotMade, copied, has_plain_form
from viva.proxies.proxies import Call


class KeyRecorder(Interceptor):
    """Records what the tests ask the key; `KeyRecording.from_plain` reads the output."""

    def __init__(self) -> None:
        self._key_recording = KeyRecording()

    def wrap_answers(self, answers: Answers) -> Answers:
        """Return answers that are recorded; those of a released folder stay as they are."""
        if not isinstance(answers.key, Key) or not isinstance(answers.seeds, Seeds):
            return answers
        recording = self._key_recording
        return Answers(
            RecordingKey(answers.key, recording), RecordingSeeds(answers.seeds, recording), HintWriter(recording)
        )

    def end(self, sought: Collection[str], answer_readers: Collection[str]) -> None:
        """Note which values and answers the submission was asked for."""
        self._key_recording.note_written_by_students(sought)
        self._key_recording.answer_readers.update(answer_readers)

    def output(self) -> bytes:
        """Return the recording."""
        return self._key_recording.to_plain()


class RecordingKey(Key):
    """Answers as the key does, and records the answers."""

    def __init__(self, key: Key, key_recording: KeyRecording) -> None:
        super().__init__(key._module)
        self._key_recording = key_recording
        answers = getattr(key._module, "answers", None)
        for name, answer in answers.items() if isinstance(answers, Mapping) else ():
            with contextlib.suppress(Unrecordable):  # what has no plain form is not in the bytes of a record either
                packed(answer)
                key_recording.by_hand[str(name)] = answer

    def __getitem__(self, name: str) -> Any:
        found = super().__getitem__(name)
        if isinstance(found, KeyFunction):
            self._key_recording.functions.add(name)
            return _RecordingFunction(found._function, name, self._key_recording)
        if isinstance(found, Mapping):
            return _RecordingTable(found, name, self._key_recording)
        self._key_recording.note_value(name)
        _record_answer(self._key_recording, name, (), {}, Answer(found))
        return found


class _RecordingFunction(KeyFunction):
    def __init__(self, function: Callable[..., object], name: str, key_recording: KeyRecording) -> None:
        super().__init__(function, name)
        self._key_recording = key_recording

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        asked = copied(args, kwargs)
        if not (args or kwargs):
            self._key_recording.note_value(self.__name__)
        try:
            value = super().__call__(*args, **kwargs)
        except Exception as error:
            _record_answer(
                self._key_recording, self.__name__, *asked, Answer(raised=(type(error).__name__, str(error)))
            )
            raise
        _record_answer(self._key_recording, self.__name__, *asked, Answer(value))
        return value

    keep = __call__

    def call(self, *args: object, **kwargs: object) -> Call:
        asked = copied(args, kwargs)
        if not (args or kwargs):
            self._key_recording.note_value(self.__name__)
        try:
            did = super().call(*args, **kwargs)
        except NotMade as error:
            answer = Answer(raised=(NotMade.__name__, str(error)))
            _record_answer(self._key_recording, f"call {self.__name__}", *asked, answer)
            raise
        raised = None if did.raised is None else (did.raised.type_name, did.raised.message)
        after = (
            tuple(v if has_plain_form(given) else None for v, given in zip(did.args_after, args, strict=True)),
            {name: v if has_plain_form(kwargs[name]) else None for name, v in did.kwargs_after.items()},
        )
        _record_answer(
            self._key_recording, f"call {self.__name__}", *asked, Answer(did.value, after, raised, did.printed)
        )
        return did

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        if isinstance(found, KeyFunction):
            return found
        _record_answer(self._key_recording, f"{self.__name__}.{name}", (), {}, Answer(found))
        return found

    def _wrap(self, function: Callable[..., object], name: str) -> KeyFunction:
        return _RecordingFunction(function, name, self._key_recording)


class _RecordingTable(Mapping[object, object]):
    """A constant of the key for look-ups, such as `answers`: records only what was looked up."""

    def __init__(self, table: Mapping[object, object], name: str, key_recording: KeyRecording) -> None:
        self._table, self._name, self._key_recording = table, name, key_recording

    def __getitem__(self, item: object) -> object:
        found = self._table[item]
        self._key_recording.looked_up.add(self._key_recording.case_id)
        _record_answer(self._key_recording, f"{self._name}[]", (item,), {}, Answer(found))
        return found

    def __contains__(self, item: object) -> bool:
        there = item in self._table
        _record_answer(self._key_recording, f"{self._name} has", (item,), {}, Answer(there))
        return there

    def __iter__(self) -> Iterator[object]:
        self._record_all()
        return iter(self._table)

    def __len__(self) -> int:
        self._record_all()
        return len(self._table)

    def _record_all(self) -> None:
        """Record the whole table, because the test asked for all of it."""
        self._key_recording.looked_up.add(self._key_recording.case_id)
        _record_answer(self._key_recording, f"{self._name}[all]", (), {}, Answer(list(self._table)))


class RecordingSeeds(Seeds):
    """Derives seeds as usual, and records them: a released folder holds only those of public tests."""

    __slots__ = ("_key_recording",)

    def __init__(self, seeds: Seeds, key_recording: KeyRecording) -> None:
        super().__init__(seeds.secret, seeds.assignment, seeds.version)
        object.__setattr__(self, "_key_recording", key_recording)
        key_recording.seed_id = seeds.id

    def test(self, test_id: str) -> int:
        """Return and record the seed of a test."""
        return self._recorded("test", test_id, super().test(test_id))

    def box(self, test_id: str) -> int:
        """Return and record the seed of a box; this comes first in each case."""
        key_recording: KeyRecording = object.__getattribute__(self, "_key_recording")
        key_recording.case_id = test_id
        return self._recorded("box", test_id, super().box(test_id))

    def _recorded(self, purpose: str, test_id: str, seed: int) -> int:
        key_recording: KeyRecording = object.__getattribute__(self, "_key_recording")
        key_recording.seeds[f"{purpose} {test_id}"] = seed
        return seed


def _record_answer(
    key_recording: KeyRecording, name: str, args: tuple[object, ...], kwargs: dict[str, object], answer: Answer
) -> None:
    try:
        key_recording.note(digest(name, args, kwargs), answer)
    except Unrecordable as error:
        key_recording.complain(f"`{name}` of the key takes or returns what has no plain form ({error})")


class HintWriter(ComparisonCounter):
    """Computes every hint, also those of right answers, and records its value."""

    def __init__(self, key_recording: KeyRecording) -> None:
        super().__init__(key_recording)
        self._key_recording = key_recording

    def hints_for_answer(self, hints: Mapping[str, object] | None) -> Mapping[str, object] | None:
        """Return the author's hints, and record their values."""
        at = self.next_place()
        for name, hint in (hints or {}).items():
            with contextlib.suppress(Exception):  # an author's mistake: the hint is left out
                value = copy.deepcopy(hint() if callable(hint) else hint)
                packed(value)
                self._key_recording.hints.setdefault(at, {})[name] = value
        return hints

    def hints_for_function(
        self, hints: Mapping[str, Callable[..., object]] | None, examples: Sequence[tuple[object, ...]]
    ) -> Mapping[str, Callable[..., object]] | None:
        """Return the author's hints, and record what they make of each example."""
        at = self.next_place()
        for name, hint in (hints or {}).items():
            made: dict[bytes, Any] = {}
            for arguments in examples:
                with contextlib.suppress(Exception):
                    value = copy.deepcopy(hint(*copy.deepcopy(arguments)))
                    packed(value)
                    made[digest("", arguments, {})] = value
            self._key_recording.hints.setdefault(at, {})[name] = made
        return hints
