"""The two hint recordings: one writes common mistakes into a key recording, one reads them from a record."""

import copy
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from viva.replay.key_recording.key_recording import KeyRecording, Record
from viva.replay.key_recording.recorded_values import Unrecordable, digest, packed


class _ComparisonCounter:
    """Numbers the comparisons of each case."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._count = 0

    def begin_case(self) -> None:
        """Count from the first comparison."""
        self._count = 0

    def _next(self) -> str:
        self._count += 1
        return f"{self._record.case_id} {self._count}"


class HintWriter(_ComparisonCounter):
    """Computes every hint, also those of right answers, and records its value."""

    def __init__(self, key_recording: KeyRecording) -> None:
        super().__init__(key_recording)
        self._key_recording = key_recording

    def of_answer(self, hints: Mapping[str, object] | None) -> Mapping[str, object] | None:
        """Return the author's hints, and record their values."""
        at = self._next()
        for name, hint in (hints or {}).items():
            with suppress(Exception):  # an author's mistake: the hint is left out
                value = copy.deepcopy(hint() if callable(hint) else hint)
                packed(value)
                self._key_recording.hints.setdefault(at, {})[name] = value
        return hints

    def of_function(
        self, hints: Mapping[str, Callable[..., object]] | None, examples: Sequence[tuple[object, ...]]
    ) -> Mapping[str, Callable[..., object]] | None:
        """Return the author's hints, and record what they make of each example."""
        at = self._next()
        for name, hint in (hints or {}).items():
            made: dict[bytes, Any] = {}
            for arguments in examples:
                with suppress(Exception):
                    value = copy.deepcopy(hint(*copy.deepcopy(arguments)))
                    packed(value)
                    made[digest("", arguments, {})] = value
            self._key_recording.hints.setdefault(at, {})[name] = made
        return hints


class HintReader(_ComparisonCounter):
    """Hints from a record; those in the tests were removed."""

    def of_answer(self, hints: Mapping[str, object] | None) -> Mapping[str, object] | None:
        """Return what was recorded for the comparison of this number."""
        return self._record.hints.get(self._next())

    def of_function(
        self, hints: Mapping[str, Callable[..., object]] | None, examples: Sequence[tuple[object, ...]]
    ) -> Mapping[str, Callable[..., object]] | None:
        """Return functions that know only the recorded examples."""
        return {name: _known(made) for name, made in self._record.hints.get(self._next(), {}).items()}


def _known(made: dict[bytes, object]) -> Callable[..., object]:
    def look_up(*arguments: object) -> object:
        with suppress(Unrecordable):
            return copy.deepcopy(made[digest("", arguments, {})])
        raise KeyError(arguments)

    return look_up
