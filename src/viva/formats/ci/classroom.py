"""The result that GitHub Classroom's graders hand to its reporter (base64 of JSON), and its two notices.

Two programs read that JSON and count differently: one sums the scores, the other takes the share of tests that passed.
So every test is split into parts of one and the same worth, each won or lost: then both come to the same total, and no
partial credit is lost.
"""

import base64
import json
from fractions import Fraction
from typing import Any, Final

from viva.formats import escaping
from viva.formats.ci.public_view import Report, ReportedTest
from viva.formats.ci.workflow_commands import command
from viva.formats.decimal_points import UNIT, decimal, whole_scores
from viva.model import Status

MOST_PARTS: Final = 200
MOST_CHARACTERS: Final = 100_000
"""Of the base64: the reporter gets it in an environment variable, and Linux lets one hold 128 KiB."""
_CHARACTERS: Final = ((100, 500), (100, 100), (40, 0))
"""Of each name and of each message; fewer where the whole would be too large."""
_FINEST: Final = 4


def classroom(report: Report) -> str:
    """The base64 of the result; what is open is left out, because the format would count it as lost."""
    unit = _unit(report)
    pairs = whole_scores([test.earned for test in report.decided], [test.points for test in report.decided], unit)
    shown = list(zip(report.decided, pairs, strict=True))
    for characters in _CHARACTERS:
        parts = [part for test, (won, most) in shown for part in _parts(test, won, most, unit, characters)]
        file = {
            "version": 1,
            "status": _status(report),
            "max_score": _number(Fraction(sum(most for _, most in pairs)) / unit),
            "message": escaping.line(report.hidden_line),
            "tests": parts,
        }
        encoded = base64.b64encode(json.dumps(file, ensure_ascii=False, separators=(",", ":")).encode())
        if len(encoded) <= MOST_CHARACTERS:
            break
    return encoded.decode()


def notices(report: Report) -> str:
    """The two workflow commands by which Classroom learns the total; open points are in neither number."""
    won, most = (decimal(round(n * UNIT)) for n in (report.earned, report.points - report.still_open))
    told = [_whole(won), _whole(most)]
    total = json.dumps({"totalPoints": told[0], "maxPoints": told[1]}, separators=(",", ":"))
    lines = [
        command("notice", f"Points {told[0]}/{told[1]}", title="Autograding complete"),
        command("notice", total, title="Autograding report"),
    ]
    return "\n".join(lines) + "\n"


def _unit(report: Report) -> Fraction:
    """Parts of one point: powers of two, which a sum of floats keeps exactly; as fine as needed, as coarse as must."""
    exact = [number for test in report.decided for number in (test.earned, test.points)]
    points = sum((test.points for test in report.decided), Fraction(0))
    unit = Fraction(1)
    while unit < _FINEST and any((number * unit).denominator > 1 for number in exact):
        unit *= 2
    while points * unit > MOST_PARTS:
        unit /= 2
    return unit


def _parts(
    test: ReportedTest, won: int, most: int, unit: Fraction, characters: tuple[int, int]
) -> list[dict[str, Any]]:
    name, message = escaping.line(test.name, characters=characters[0]), escaping.terminal(test.message)[: characters[1]]
    parts: list[dict[str, Any]] = []
    for index in range(most):
        passed = index < won
        lost = "error" if test.status is Status.ERROR else "fail"
        parts.append(
            {
                "name": f"{name} ({index + 1}/{most})" if most > 1 else name,
                "status": "pass" if passed else lost,
                "score": _number(1 / unit) if passed else 0,
                "message": message if index == won else "",  # once, with the first part that was lost
                "test_code": "",
                "filename": "",
                "line_no": 0,
                "duration": round(1000 * test.wall_s) if index == 0 else 0,
            }
        )
    return parts


def _status(report: Report) -> str:
    if report.has_grader_error:
        return "error"
    return "pass" if all(test.status is Status.PASSED for test in report.decided) else "fail"


def _number(exact: Fraction) -> int | float:
    return _whole(float(exact))


def _whole(number: float) -> int | float:
    """2.0 as 2: people read these numbers."""
    return int(number) if number.is_integer() else number
