"""Hints of a released folder: common mistakes are read from the record, because the tests no longer have them."""

import copy
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from viva.examiner.recorded_key.record import Record
from viva.examiner.recorded_key.recorded_values import Unrecordable, digest


class ComparisonCounter:
    """Numbers the comparisons of each case."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._count = 0

    def begin_case(self) -> None:
        """Count from the first comparison."""
        self._count = 0

    def next_place(self) -> str:
        """Return the case and the number of the comparison that begins."""
        self._count += 1
        return f"{self._record.case_id} {self._count}"


class HintReader(ComparisonCounter):
    """Hints from a record; those in the tests were removed."""

    def hints_for_answer(self, hints: Mapping[str, object] | None) -> Mapping[str, object] | None:
        """Return what was recorded for the comparison of this number."""
        return self._record.hints.get(self.next_place())

    def hints_for_function(
        self, hints: Mapping[str, Callable[..., object]] | None, examples: Sequence[tuple[object, ...]]
    ) -> Mapping[str, Callable[..., object]] | None:
        """Return functions that know only the recorded examples."""
        return {name: _known(made) for name, made in self._record.hints.get(self.next_place(), {}).items()}


def _known(made: dict[bytes, object]) -> Callable[..., object]:
    def look_up(*arguments: object) -> object:
        with suppress(Unrecordable):
            return copy.deepcopy(made[digest("", arguments, {})])
        raise KeyError(arguments)

    return look_up
