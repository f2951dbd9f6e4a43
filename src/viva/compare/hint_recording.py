"""Recorded hints: saved where the key is recorded, read where neither key nor the author's code is available.

Within a case, comparisons come in the same order for every submission.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class HintRecording(Protocol):
    """Maps the author's hints to those that are tried."""

    def begin_case(self) -> None:
        """Count the comparisons of a case from the first."""
        ...

    def hints_for_answer(self, hints: Mapping[str, object] | None) -> Mapping[str, object] | None:
        """Return the hints of the next comparison of one answer: values, or functions of no arguments."""
        ...

    def hints_for_function(
        self, hints: Mapping[str, Callable[..., object]] | None, examples: Sequence[tuple[object, ...]]
    ) -> Mapping[str, Callable[..., object]] | None:
        """Return the hints of the next comparison of two functions: functions of the same arguments."""
        ...


_hint_recording: ContextVar[HintRecording | None] = ContextVar("_hint_recording", default=None)


@contextmanager
def using_hint_recording(hint_recording: HintRecording | None) -> Iterator[None]:
    """Use a recording for all comparisons; None for the author's hints as they are."""
    before = _hint_recording.set(hint_recording)
    try:
        yield
    finally:
        _hint_recording.reset(before)


def begin_case() -> None:
    """Count the comparisons of a case from the first: it begins, or it is run again."""
    if (hint_recording := _hint_recording.get()) is not None:
        hint_recording.begin_case()


def hints_of_answer(hints: Mapping[str, object] | None) -> Mapping[str, object] | None:
    """Return the hints to try for one answer; called once in each comparison, with or without hints."""
    hint_recording = _hint_recording.get()
    return hints if hint_recording is None else hint_recording.hints_for_answer(hints)


def hints_of_function(
    hints: Mapping[str, Callable[..., object]] | None, examples: Sequence[tuple[object, ...]]
) -> Mapping[str, Callable[..., object]] | None:
    """Return the hints to try for two functions that are compared on some examples."""
    hint_recording = _hint_recording.get()
    return hints if hint_recording is None else hint_recording.hints_for_function(hints, examples)
