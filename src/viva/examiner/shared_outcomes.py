"""Outcomes of replayed cases, used again for submissions of which the case learns the same.

Most submissions reply the same to most tests: in a replay of a class, each case runs once for each reply. What a case
decides depends on its code, its seed and its exchanges. A case is left out where it depends on more: on files or
answers, on objects of earlier tests, on the names of the submission, or on a box that has ended.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import pytest

from viva.examiner.boxes.box_session import BoxSession
from viva.examiner.catalog import TestFunction
from viva.examiner.outcome import Outcome
from viva.examiner.pytest_internals import has_lasting_fixtures
from viva.model.errors import VivaError
from viva.model.grade_request import GradeOptions
from viva.replay.call_log import BoxReplay, QuestionsChanged

_MOST: Final = 5_000
"""Outcomes that are kept; then all are forgotten."""

Place = tuple[object, ...]
"""Everything an outcome depends on: the case, its exchanges, whether the whole submission was loaded, the options."""


@dataclass(frozen=True, slots=True)
class Decided:
    """The outcome of one case, and what else the score needs of it."""

    outcome: Outcome
    points: Fraction | None
    leader: Any
    sought: dict[str, bool]
    """The student's names that it looked for."""


class SharedOutcomes:
    """The outcomes of one examiner's cases, for all submissions that it replays."""

    def __init__(self) -> None:
        self._decided: dict[Place, Decided] = {}

    def find(self, place: Place) -> Decided | None:
        """Return what another submission has led to there."""
        return self._decided.get(place)

    def keep(self, place: Place, decided: Decided) -> None:
        """Keep what a case has decided."""
        if len(self._decided) >= _MOST:
            self._decided.clear()
        self._decided[place] = decided


def place_of(
    function: TestFunction,
    item: pytest.Function,
    session: BoxSession,
    replay: BoxReplay,
    options: GradeOptions,
) -> Place | None:
    """Return where the outcome of the case that has begun is kept; None if it depends on more than its exchanges."""
    case_id = session.test.case_id
    learnt = replay.learnt(case_id)
    if learnt is None or function.needs or has_lasting_fixtures(item):
        return None
    try:
        session.open()
    except (VivaError, QuestionsChanged):
        return None  # the case meets this again, and says so
    if session.report is None:
        return None
    return case_id, learnt, session.report.incomplete, options.explain, options.until_loss, options.call_s
