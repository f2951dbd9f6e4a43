"""JUnit XML in the dialect that GitLab, Jenkins and pytest's `xunit2` share (junit-10.xsd of Jenkins' xUnit plugin).

A submission is a suite with totals and notes; each test function is a separate suite with its points as properties,
and its cases as test cases. All names in the file are unique: of tests with the same name GitLab reads the first.
"""

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from typing import Final
from xml.etree.ElementTree import Element, SubElement

from viva.formats import escaping
from viva.formats.decimal_points import show, worth_in_words
from viva.model import Status
from viva.model.errors import UsageError
from viva.plugins.ci.public_view import MESSAGE, Report, ReportedCase, ReportedTest

MOST_BYTES: Final = 20 << 20
"""GitLab reads files below 30 MB."""
_CHARACTERS: Final = (MESSAGE["characters"], 1100, 0)
"""The most characters of each message; fewer where the file would be too large."""


def junit(reports: Sequence[Report]) -> bytes:
    """Write the file of one submission or several.

    Raises:
        UsageError: it would be too large for the programs that read it.
    """
    for characters in _CHARACTERS:
        data = _file(reports, characters)
        if len(data) <= MOST_BYTES:
            return data
    raise UsageError(f"JUnit XML of this would be larger than {MOST_BYTES >> 20} MiB; export fewer results at once.")


def _file(reports: Sequence[Report], characters: int) -> bytes:
    root = Element("testsuites", name="viva")
    for report in reports:
        prefix = f"{report.submission}: " if len(reports) > 1 else ""
        _submission(root, report, characters)
        for test in report.tests:
            _test(root, report, test, prefix, characters)
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    root.set("time", f"{sum(report.wall_s for report in reports):.3f}")
    ElementTree.indent(root)
    data: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return data + b"\n"


def _submission(root: Element, report: Report, characters: int) -> None:
    suite = _suite(root, report.title, [], report.wall_s)
    totals = report.totals
    properties = {
        "assignment": report.assignment,
        "score": show(totals.earned),
        "max_score": show(totals.points),
        "still_open": show(totals.still_open),
        "complete": str(report.complete).lower(),
        "isolation": report.tier,
        "tests_not_shown": str(report.left_out),
    }
    _properties(suite, properties)
    if report.notes and characters:
        SubElement(suite, "system-out").text = escaping.xml_characters(report.notes, characters=characters)


def _test(root: Element, report: Report, test: ReportedTest, prefix: str, characters: int) -> None:
    cases = test.cases or (ReportedCase(test.name, test.status, test.message),)
    suite = _suite(root, prefix + test.name, [case.status for case in cases], test.wall_s)
    score = {} if test.status.is_open else {"score": show(test.earned)}
    _properties(suite, {**score, "max_score": show(test.points), "status": test.status.value})
    for case in cases:
        element = SubElement(
            suite,
            "testcase",
            classname=_attribute(f"{report.assignment}.{test.test_id}"),
            name=_attribute(prefix + case.name),
            time=f"{test.wall_s / len(cases):.3f}",
        )
        if case.status.junit:
            said = escaping.xml_characters(case.message, characters=characters) if characters else ""
            kind = SubElement(element, case.status.junit, type=case.status.value, message=_headline(test, said))
            kind.text = said or None


def _suite(root: Element, name: str, statuses: Sequence[Status], wall_s: float) -> Element:
    counts = {
        "tests": len(statuses),
        "failures": sum(status.junit == "failure" for status in statuses),
        "errors": sum(status.junit == "error" for status in statuses),
        "skipped": sum(status.junit == "skipped" for status in statuses),
    }
    attributes = {"name": _attribute(name), **{key: str(count) for key, count in counts.items()}}
    return SubElement(root, "testsuite", attributes, time=f"{wall_s:.3f}")


def _properties(suite: Element, values: dict[str, str]) -> None:
    properties = SubElement(suite, "properties")
    for name, value in values.items():
        SubElement(properties, "property", name=name, value=_attribute(value))


def _headline(test: ReportedTest, message: str) -> str:
    """Return the line that lists show; the element holds the whole message."""
    first = escaping.line(message.partition("\n")[0])
    worth = worth_in_words(test)
    return f"{worth}: {first}" if first else worth


def _attribute(text: str) -> str:
    return escaping.line(text, characters=1000)
