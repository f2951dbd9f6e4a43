"""Hints that are recorded, so that a released folder needs no code of common mistakes."""

import copy
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from viva.examiner.recorded_key.recorded_hints import ComparisonCounter
from viva.examiner.recorded_key.recorded_values import digest, packed
from viva.plugins.release.key_recorder.key_recording import KeyRecording


class HintWriter(ComparisonCounter):
    """Computes every hint, also those of right answers, and records its value."""

    def __init__(self, key_recording: KeyRecording) -> None:
        super().__init__(key_recording)
        self._key_recording = key_recording

    def hints_for_answer(self, hints: Mapping[str, object] | None) -> Mapping[str, object] | None:
        """Return the author's hints, and record their values."""
        at = self.next_place()
        for name, hint in (hints or {}).items():
            with suppress(Exception):  # an author's mistake: the hint is left out
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
                with suppress(Exception):
                    value = copy.deepcopy(hint(*copy.deepcopy(arguments)))
                    packed(value)
                    made[digest("", arguments, {})] = value
            self._key_recording.hints.setdefault(at, {})[name] = made
        return hints
