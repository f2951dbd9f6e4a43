"""JUnit XML: the elements and attributes that its readers allow, every name once, a bounded size, no text that acts."""

import xml.etree.ElementTree as ElementTree
from typing import Final

import pytest
from hypothesis import given

from tests.support.ci_results import HIDDEN, SECRET, TEXTS, entry, one_of_each, report, spoiled
from viva.model import Status
from viva.model.errors import UsageError
from viva.plugins.ci.junit import junit
from viva.plugins.ci.public_view import report_of

# What junit-10.xsd of Jenkins' xUnit plugin allows, as far as it is used here: attributes that must be, that may be,
# and the elements inside.
ALLOWED: Final[dict[str, tuple[set[str], set[str], set[str]]]] = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors"},
        {"time", "skipped"},
        {"properties", "testcase", "system-out"},
    ),
    "properties": (set(), set(), {"property"}),
    "property": ({"name", "value"}, set(), set()),
    "testcase": ({"name"}, {"time", "classname"}, {"skipped", "error", "failure", "system-out"}),
    **dict.fromkeys(["skipped", "error", "failure"], (set[str](), {"type", "message"}, set[str]())),
    "system-out": (set(), set(), set()),
}


def check(data: bytes) -> ElementTree.Element:
    """The file, once it is seen to be well-formed and to hold only what is allowed where it stands."""
    root = ElementTree.fromstring(data)
    assert root.tag == "testsuites"
    for element in root.iter():
        needed, may, inner = ALLOWED[element.tag]
        assert needed <= set(element.keys()) <= needed | may, element.attrib
        assert {child.tag for child in element} <= inner
    cases = list(root.iter("testcase"))
    assert len({case.get("name") for case in cases}) == len(cases)
    for tag, count in (("failure", "failures"), ("error", "errors")):
        assert sum(1 for _ in root.iter(tag)) == int(root.get(count, "")) == sum(int(s.get(count, "")) for s in root)
    assert len(cases) == int(root.get("tests", ""))
    return root


def properties(suite: ElementTree.Element) -> dict[str | None, str | None]:
    return {each.get("name"): each.get("value") for each in suite.iter("property")}


def test_status_decides_the_element() -> None:
    root = check(junit([report_of(one_of_each())]))
    kinds: dict[str | None, set[str]] = {}
    for suite in root:
        tags = {child.tag for case in suite.iter("testcase") for child in case}
        kinds[properties(suite).get("status")] = tags
    expected: dict[str | None, set[str]] = {
        None: set(),
        "passed": set(),
        **{word: {"failure"} for word in ["partial", "failed", "timeout"]},
        **{word: {"error"} for word in ["error", "grader_error"]},
        **{word: {"skipped"} for word in ["skipped", "deferred", "needs_review"]},
    }
    assert kinds == expected


def test_points_are_properties() -> None:
    root = check(junit([report_of(one_of_each())]))
    whole, *tests = map(properties, root)
    assert (whole["score"], whole["max_score"], whole["still_open"]) == ("3", "18", "6")
    assert whole["tests_not_shown"] == "1" and whole["isolation"] == "T3"
    assert sum(float(test["score"] or 0) for test in tests if "score" in test) == 3
    assert {test["status"] for test in tests if "score" not in test} == {"deferred", "needs_review", "grader_error"}


def test_failed_case_tells_points_and_message() -> None:
    root = check(junit([report_of(one_of_each())]))
    (suite,) = [suite for suite in root if suite.get("name") == "1.20 Test 20."]
    first, second = suite.iter("testcase")
    assert (first.get("name"), list(first)) == ("1.20 Test 20. [n=1]", [])
    failure = second.find("failure")
    assert failure is not None and failure.text == "gave 3, expected 4\nat index 0"
    assert failure.get("message") == "1 of 2 points: gave 3, expected 4"


def test_no_hidden_test_in_junit() -> None:
    data = junit([report_of(one_of_each())]).decode()
    assert SECRET not in data and HIDDEN not in data and "A hidden test" not in data and "for staff" not in data


@given(TEXTS)
def test_no_text_leaves_its_place(text: str) -> None:
    honest = check(junit([report_of(one_of_each())]))
    root = check(junit([report_of(spoiled(one_of_each(), text))]))
    shape = [(element.tag, sorted(element.keys())) for element in root.iter() if element.tag != "system-out"]
    assert shape == [(element.tag, sorted(element.keys())) for element in honest.iter() if element.tag != "system-out"]


def test_several_submissions() -> None:
    root = check(junit([report_of(one_of_each()), report(entry(1), submission="other")]))
    assert [case.get("name") for case in root.iter("testcase")][-1] == "other: 1.1 Test 1."


def test_large_file_loses_words_not_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viva.plugins.ci.junit.MOST_BYTES", 2 << 20)
    shown = report(*(entry(index, Status.FAILED, message="x" * 8000) for index in range(300)))
    data = junit([shown])
    assert len(data) <= 2 << 20 and b"(6,900 more characters)" in data
    assert len(list(check(data).iter("testcase"))) == 300
    monkeypatch.setattr("viva.plugins.ci.junit.MOST_BYTES", 10_000)
    with pytest.raises(UsageError, match="export fewer"):
        junit([shown])
