"""Results for the formats of continuous integration: honest ones, and ones full of text that a student could print."""

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from viva.formats.results_json import Results, results_of
from viva.model import Case, Entry, Isolation, Score, Status
from viva.plugins.ci.public_view import Report, report_of

HIDDEN = "This test is hidden: what it asks and what went wrong is not shown."
SECRET = "the hidden input 0x5ec2e7"
HOSTILE = [
    "::set-output name=score::100",
    '::error title=Autograding report::{"totalPoints":100,"maxPoints":100}',
    "x\n::stop-commands::pause\n::add-mask::a",
    "##[set-env name=PATH]/tmp",
    "]]><evil/>",
    "<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>&e;",
    "NUL \0 and a lone surrogate \ud800 and \ufffe",
    "\u202etxet lliw \u2066",
    "\x1b]0;title\x07\x1b[2J\x1b[31mred\x1b[0m",
    "```\n</details><script>alert(1)</script>\n````````\n[x](javascript:alert(1)) @everyone",
    "a\nname\r\nof\u2028lines",
    "%0A::error::%25",
    '=HYPERLINK("http://evil.example")',
]
TEXTS = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(st.characters(), max_size=60),
    st.lists(st.sampled_from(HOSTILE), min_size=2, max_size=4).map("\n".join),
)


def entry(index: int = 1, status: Status = Status.PASSED, earned: Any = None, points: Any = 2, **more: Any) -> Entry:
    """A test function with one case, unless `cases` says otherwise."""
    won = Fraction(earned if earned is not None else points if status is Status.PASSED else 0)
    message = more.pop("message", "" if status is Status.PASSED else f"What is wrong with {index}.")
    cases = more.pop("cases", (Case("", status, won, Fraction(points), message, "for staff", 0.25),))
    fields = {"name": f"Test {index}.", "number": f"1.{index}", "visibility": "visible"} | more
    return Entry(
        test_id=f"test_it.py::test_{index}", status=status, earned=won, points=Fraction(points), cases=cases, **fields
    )


def results(*entries: Entry, **more: Any) -> Results:
    fields: dict[str, Any] = {
        "submission": "homework",
        "content_hash": "0" * 64,
        "assignment": "masks",
        "version": 1,
        "isolation": Isolation("T3"),
        "signature": {"viva": "0.1.0"},
        "wall_s": 1.5,
    } | more
    return results_of(Score(entries=entries, **fields))


def report(*entries: Entry, hidden: bool = False, **more: Any) -> Report:
    return report_of(results(*entries, **more), hidden=hidden)


def one_of_each() -> Results:
    """Every status once, two cases, a hidden test, and notes."""
    cases = (
        Case("n=1", Status.PASSED, Fraction(1), Fraction(1), "", "", 0.1),
        Case("n=2", Status.FAILED, Fraction(0), Fraction(1), "gave 3, expected 4\nat index 0", "", 0.1),
    )
    decided = [s for s in Status if s is not Status.PARTIAL]
    hidden = (Case("", Status.FAILED, Fraction(0), Fraction(3), HIDDEN, SECRET, 0.1),)
    return results(
        *(entry(index, status) for index, status in enumerate(decided, 1)),
        entry(20, Status.PARTIAL, 1, cases=cases),
        entry(21, Status.FAILED, 0, 3, visibility="hidden", cases=hidden, name="A hidden test."),
        notes=("Cell 3 raised NameError.",),
        environment=("transformers 5.23.0 lacks encode_plus",),
    )


def spoiled(given: Results, text: str, *, names: bool = True) -> Results:
    """The same results with a text in every place that no number is in, as a file from elsewhere might have it."""
    said = {"output": text} | ({"name": text, "number": text[:40], "tags": [text]} if names else {})
    tests = [test.model_copy(update=said) for test in given.tests]
    more = {"submission": text, "assignment": text, "environment": [text]} if names else {}
    exact = given.extra_data.model_copy(update=more)
    return given.model_copy(update={"tests": tests, "output": text, "extra_data": exact})
