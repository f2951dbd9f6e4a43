"""Send what was planned, one student at a time: an error of one does not stop the others."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from viva.model.errors import UsageError
from viva.plugins.cohorts.lms.errors import LmsError, NotAllowed, Unreachable
from viva.plugins.cohorts.lms.platform import Change, Platform
from viva.plugins.cohorts.lms.push_plan import Row, same_points

_MOST_SILENT: Final = 3
"""Students in a row for whom no answer came, after which the platform is taken to be down."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What happened for one student."""

    row: Row
    error: str = ""
    """Why nothing was sent; empty if it was."""


def send_all(platform: Platform, rows: Sequence[Row]) -> Iterator[Sent]:
    """Send the changes of a plan, and yield what happened for each.

    Args:
        platform: gets them.
        rows: the plan; rows without a change are skipped.

    Raises:
        NotAllowed: the platform does not accept the token.
        Unreachable: no answer came for several students in a row.
    """
    silent = 0
    for row in rows:
        change = row.change
        if change is None:
            continue
        try:
            _send(platform, change)
        except NotAllowed:
            raise
        except UsageError as error:
            silent = silent + 1 if isinstance(error, Unreachable) else 0
            if silent == _MOST_SILENT:
                raise
            yield Sent(row, str(error))
        else:
            silent = 0
            yield Sent(row)


def _send(platform: Platform, change: Change) -> None:
    """Send one change, if the platform still has what the plan was made from."""
    planned = change.before
    now = platform.present(planned.account)
    if not same_points(now.grade, planned.grade) or now.excused != planned.excused:
        raise LmsError("The grade changed since the plan was made; run the command again.")
    if change.feedback is not None and change.feedback.is_among(now.files or ()):
        change = replace(change, feedback=None, comment="")
    if change.points is not None or change.excuse or change.feedback is not None:
        platform.send(change, now)
