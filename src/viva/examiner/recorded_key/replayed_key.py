"""The key of a released folder: answers only the questions that were asked when it was recorded."""

import builtins
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from viva.examiner.recorded_key.record import NOT_RECORDED, Answer, NotRecorded, Record
from viva.examiner.recorded_key.recorded_values import Unrecordable, digest
from viva.model.errors import StudentRaised
from viva.proxies.key import NotMade, OfKey
from viva.proxies.proxies import Call, to_box


class ReplayedKey:
    """The interface of `Key`, without a key."""

    def __init__(self, record: Record) -> None:
        self._answers = _RecordedAnswers(record)

    @property
    def record(self) -> Record:
        """Return everything that it knows."""
        return self._answers.record

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Any:
        if name in self._answers.record.functions:
            return ReplayedFunction(name, self._answers)
        known = self._answers.look_up(name, (), {})
        return ReplayedTable(name, self._answers) if known is None else known.value

    def __contains__(self, name: object) -> bool:
        return name in self._answers.record.functions


class _RecordedAnswers:
    """Looks questions up in a record."""

    def __init__(self, record: Record) -> None:
        self.record = record

    def look_up(self, name: str, args: tuple[object, ...], kwargs: dict[str, object]) -> Answer | None:
        try:
            question = digest(name, tuple(map(to_box, args)), {k: to_box(v) for k, v in kwargs.items()})
        except Unrecordable:
            return None
        return self.record.answer(question)

    def asked(self, name: str, args: tuple[object, ...], kwargs: dict[str, object]) -> Answer:
        answer = self.look_up(name, args, kwargs)
        if answer is None:
            raise NotRecorded(NOT_RECORDED)
        return answer


class ReplayedFunction(OfKey):
    """A function of the key, from the record, with the same ways to call it."""

    def __init__(self, name: str, answers: _RecordedAnswers) -> None:
        self.__name__ = name
        self._answers = answers

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the value that the key gave.

        Raises:
            NotRecorded: the key was not asked this.
        """
        answer = self._answers.asked(self.__name__, args, kwargs)
        if answer.raised is not None:
            kind = NotMade if answer.raised[0] == NotMade.__name__ else getattr(builtins, answer.raised[0], Exception)
            raise kind(answer.raised[1])
        return answer.value

    keep = __call__

    def each(self, questions: Iterable[Sequence[Any]]) -> list[Any]:
        """Return the values that the key gave, in the order of the questions."""
        return [self(*question) for question in questions]

    def attributes(self, *names: str) -> "ReplayedFunction":
        """Return a function that reads these attributes of the objects that come back."""
        return ReplayedFunction(f"{self.__name__}.attributes({', '.join(names)})", self._answers)

    def call(self, *args: object, **kwargs: object) -> Call:
        """Return everything the call did."""
        answer = self._answers.asked(f"call {self.__name__}", args, kwargs)
        if answer.raised is not None and answer.raised[0] == NotMade.__name__:
            raise NotMade(answer.raised[1])
        raised = None if answer.raised is None else StudentRaised(*answer.raised)
        args_after, kwargs_after = answer.after or (args, kwargs)
        return Call(answer.value, args_after, kwargs_after, answer.printed, raised)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        chain = f"{self.__name__}.{name}"
        known = self._answers.look_up(chain, (), {})
        return ReplayedFunction(chain, self._answers) if known is None else known.value


class ReplayedTable(Mapping[object, object]):
    """A table of the key that knows only what was looked up."""

    def __init__(self, name: str, answers: _RecordedAnswers) -> None:
        self._name, self._answers = name, answers

    def __getitem__(self, item: object) -> object:
        return self._answers.asked(f"{self._name}[]", (item,), {}).value

    def __contains__(self, item: object) -> bool:
        return bool(self._answers.asked(f"{self._name} has", (item,), {}).value)

    def __iter__(self) -> Iterator[object]:
        return iter(self._answers.asked(f"{self._name}[all]", (), {}).value)

    def __len__(self) -> int:
        return len(self._answers.asked(f"{self._name}[all]", (), {}).value)


class RecordedSeeds:
    """The interface of `Seeds`, for the recorded cases."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self.id = record.seed_id

    def test(self, test_id: str) -> int:
        """Return the seed of the grader's own draws in one case."""
        return self._of("test", test_id)

    def box(self, test_id: str) -> int:
        """Return the seed given to the box before a case; the case begins with it."""
        self._record.case_id = test_id
        return self._of("box", test_id)

    def rng(self, test_id: str) -> np.random.Generator:
        """Return a fresh generator for one case."""
        return np.random.default_rng(self.test(test_id))

    def key(self, purpose: str) -> bytes:
        """Return a key that is not secret: what it signs is the student's own."""
        return f"viva {purpose} {self.id}".encode()

    def _of(self, purpose: str, test_id: str) -> int:
        try:
            return self._record.seeds[f"{purpose} {test_id}"]
        except KeyError:
            raise NotRecorded(NOT_RECORDED) from None
