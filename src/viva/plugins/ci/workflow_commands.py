"""Workflow commands of GitHub Actions: log lines that the runner obeys, and student text that it must not obey.

A line that begins with `::name::`, or contains `##[name]`, is a command. So a student's text is either inside one of
viva's commands, escaped and on one line, or between `::stop-commands::TOKEN` and `::TOKEN::`, where the runner obeys
only the token, which is random.
"""

import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, Literal

from viva.formats import escaping
from viva.formats.decimal_points import worth_in_words
from viva.model import Status
from viva.plugins.ci.public_view import Report, ReportedTest

MOST_ANNOTATIONS: Final = 10
"""The most annotations of each kind in a step; GitHub drops more."""
_CHARACTERS: Final = 2000
_MOST_LOG: Final = 1_000_000
"""Characters of the messages that are printed below."""
_PLACE: Final = re.compile(r"^ {0,4}([^\s:,][^\n:,]{0,200}\.py), line (\d{1,7})\b", re.MULTILINE)
"""A line of the student's traceback, as the message shows it; GitHub cannot show a line in a notebook cell."""
Kind = Literal["error", "warning", "notice"]


def command(kind: Kind, message: str, **properties: str | int) -> str:
    """Format one workflow command on one line, whatever the text contains."""
    given = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items() if value != "")
    return f"::{kind}{' ' if given else ''}{given}::{_data(escaping.terminal(message, characters=_CHARACTERS))}"


def stopped(text: str, make_token: Callable[[], str] = lambda: secrets.token_hex(16)) -> str:
    """Put text between two lines that make the runner ignore commands in it.

    Args:
        make_token: returns a word that no one can guess; called again if the text contains it.
    """
    shown = escaping.terminal(text, characters=_MOST_LOG, lines=_MOST_LOG)
    token = make_token()
    while token in shown:
        token = make_token()
    return f"::stop-commands::{token}\n{shown.rstrip(chr(10))}\n::{token}::\n"


def annotations(reports: Sequence[Report], make_token: Callable[[], str] = lambda: secrets.token_hex(16)) -> str:
    """Report lost points as errors and warnings at the lines of the student's code, then every message in full.

    At most ten of each kind are annotations, and the last of them says how many more there are. All messages follow in
    a group of the log.
    """
    lines = [*_annotated(reports, "error"), *_annotated(reports, "warning")]
    messages = [part for report in reports for part in _messages(report)]
    text = "".join(f"{line}\n" for line in lines)
    if messages:
        text += f"::group::Messages\n{stopped(chr(10).join(messages), make_token)}::endgroup::\n"
    return text


def _annotated(reports: Sequence[Report], kind: Kind) -> list[str]:
    found = [(report, test) for report in reports for test in report.tests if test.status.annotation == kind]
    kept = found if len(found) <= MOST_ANNOTATIONS else found[: MOST_ANNOTATIONS - 1]
    lines = [_annotation(kind, report, test, several=len(reports) > 1) for report, test in kept]
    if missing := len(found) - len(kept):
        lines.append(command(kind, f"{missing} more tests like these are listed in the summary.", title="And more"))
    return lines


def _annotation(kind: Kind, report: Report, test: ReportedTest, *, several: bool) -> str:
    place = place_of(test.message, report.submission)
    where: dict[str, str | int] = {"file": place.file, "line": place.line} if place else {}
    title = f"{report.submission}: {test.name}" if several else test.name
    return command(kind, f"{worth_in_words(test)}\n{test.message}".rstrip(), **where, title=escaping.line(title))


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file of the repository."""

    file: str
    line: int


def place_of(message: str, submission: str) -> Place | None:
    """Return the last line of the student's own code that the message names; None if none is below the submission.

    Args:
        submission: the path as it was given; only one relative to the repository's root gives a place.
    """
    found = _PLACE.findall(message)
    base = PurePosixPath(submission)
    if not found or base.is_absolute() or ".." in base.parts:
        return None
    name, line = escaping.line(found[-1][0]), int(found[-1][1])
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "<" in name:
        return None
    whole = base if base.name == name else base / path
    return Place(str(whole), line)


def _messages(report: Report) -> list[str]:
    lines = [f"{report.title}: {report.total}", report.hidden_line, report.notes.rstrip("\n")]
    for test in report.tests:
        if test.status is not Status.PASSED:
            lines.append(f"\n{test.status.symbol} {test.status.value}  {test.name}  ({worth_in_words(test)})")
            lines.append(test.message)
    return [line for line in lines if line]


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(escaping.line(text)).replace(":", "%3A").replace(",", "%2C")
