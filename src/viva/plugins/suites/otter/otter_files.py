"""Otter's test files, read as text and never run: names, points, hidden cases, and what each puts into the box."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from textwrap import dedent
from typing import Any, Final

from viva.model.errors import CourseError

FOLDER: Final = "tests"
"""The folder of the test files, below graders/<a>/."""
MAX_BYTES: Final = 4 << 20
_SETTINGS: Final = ("name", "points", "hidden", "success_message", "failure_message")
"""The arguments of `test_case`, in their order; a case of the OK format has them too."""
_CASE: Final = frozenset({*_SETTINGS, "code", "locked"})
_UNREADABLE: Final = (ValueError, TypeError, SyntaxError, MemoryError, RecursionError)


class OtterError(Exception):
    """What is wrong with a test file or a cell of a master notebook, as a phrase for the author."""


@dataclass(frozen=True, slots=True)
class OtterCase:
    """One case of a question."""

    name: str
    hidden: bool
    points: Fraction
    success: str
    failure: str


@dataclass(frozen=True, slots=True)
class OtterTest:
    """One test file: the tests of one question."""

    file: str
    """The name by which a notebook asks for it: `q1` for tests/q1.py."""
    name: str
    cases: tuple[OtterCase, ...]
    all_or_nothing: bool
    whole: dict[str, Any]
    """What goes into a box that may see hidden cases."""
    public: dict[str, Any]
    """The same without hidden cases."""

    @property
    def points(self) -> Fraction:
        """Return what the question is worth."""
        return sum((case.points for case in self.cases), Fraction(0))

    @property
    def has_hidden(self) -> bool:
        """Return whether a case is hidden."""
        return any(case.hidden for case in self.cases)


def read_points(value: Any) -> Fraction:
    """Return a number of points as it was written: 0.1 is one tenth.

    Raises:
        OtterError: it is not a number, or negative.
    """
    if type(value) not in (int, float) or not 0 <= value < 1e9:
        raise OtterError(f"points are {value!r:.40}; expected a number, zero or more")
    return Fraction(str(value))


def resolve_points(question: object, cases: Sequence[object]) -> list[Fraction]:
    """Return the points of each case, by otter's "Resolving Point Values", in exact fractions.

    Args:
        question: what the question says: a number that its cases share, a list with one for each case, or None.
        cases: what each case says itself: a number, or None.

    Raises:
        OtterError: a list of another length, or the cases say more than the question is worth.
    """
    if isinstance(question, list):
        if len(question) != len(cases):
            raise OtterError(f"points are a list of {len(question)}, but there are {len(cases)} cases")
        cases, question = question, None
    own = [None if value is None else read_points(value) for value in cases]
    stated = sum(filter(None, own), Fraction(0))
    # Where nobody says anything, or only zeros are given, the question is worth one point.
    total = (stated or Fraction(1)) if question is None else read_points(question)
    if total < stated:
        raise OtterError(f"the cases are worth {float(stated):g} points, more than the question's {question:g}")
    silent = own.count(None)
    share = (total - stated) / silent if silent else Fraction(0)
    return [share if value is None else value for value in own]


def read_tests(folder: Path) -> tuple[OtterTest, ...]:
    """Read all test files of the folder, in the order in which otter runs them.

    Raises:
        CourseError: there is none, or one says what cannot be known without running it.
    """
    paths = sorted(p for p in folder.glob("*.py") if p.is_file() and not p.is_symlink() and p.stem != "__init__")
    if not paths:
        raise CourseError(f"{folder} holds no test file: `suite: otter` expects otter's tests (q1.py, …) there.")
    tests: dict[str, OtterTest] = {}
    for path in paths:
        try:
            test = _read_file(path)
        except OtterError as error:
            raise CourseError(f"{path}: {error}.") from None
        if test.name in tests:
            raise CourseError(
                f"{folder}: two files say that they are the question `{test.name}`; otter would count one."
            )
        tests[test.name] = test
    return tuple(tests.values())


def _read_file(path: Path) -> OtterTest:
    try:
        data = path.read_bytes()
        if len(data) > MAX_BYTES:
            raise OtterError(f"is larger than {MAX_BYTES >> 20} MiB; put data into files of their own")
        text = data.decode("utf-8-sig")
        tree = ast.parse(text)
    except SyntaxError as error:
        raise OtterError(f"is not valid Python (line {error.lineno}: {error.msg})") from None
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        raise OtterError(f"cannot be read: {error}") from None
    values: dict[str, ast.expr] = {}
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "value", None)
        if isinstance(node, ast.Assign | ast.AnnAssign) and value is not None:
            values |= {target.id: value for target in targets if isinstance(target, ast.Name)}
    if "OK_FORMAT" not in values:
        raise OtterError("does not say OK_FORMAT = True or False, so it is not a test file in otter's current format")
    if _read_value(values, "OK_FORMAT"):
        return _read_ok_format(path.stem, _read_value(values, "test"))
    return _read_functions(path.stem, text, tree, values)


def _read_value(values: Mapping[str, ast.expr], name: str) -> Any:
    """Return a value that is written out; None if there is no such name."""
    try:
        return ast.literal_eval(values[name]) if name in values else None
    except _UNREADABLE:
        line = values[name].lineno
        raise OtterError(
            f"line {line}: `{name}` is worked out when the file is run; write it as a plain value"
        ) from None


def _read_ok_format(file: str, test: Any) -> OtterTest:
    if not isinstance(test, dict) or not isinstance(test.get("name"), str):
        raise OtterError("`test` is not a dictionary with a name")
    suites = test.get("suites")
    if not isinstance(suites, list) or len(suites) != 1 or not isinstance(suites[0], dict):
        raise OtterError("`suites` is not a list of exactly one suite, which is all that otter runs")
    suite = suites[0]
    if suite.get("type", "doctest") != "doctest" or suite.get("setup") or suite.get("teardown"):
        raise OtterError("the suite has a setup, a teardown or a type other than doctest, which otter does not run")
    rows = suite.get("cases")
    if not isinstance(rows, list) or not all(isinstance(r, dict) and isinstance(r.get("code"), str) for r in rows):
        raise OtterError("`cases` is not a list of cases with their `code`")
    if strange := next((key for row in rows for key in row if key not in _CASE), None):
        raise OtterError(f"a case has the key {strange!r:.40}, which otter does not know")
    name = test["name"]
    cases = _make_cases(name, test.get("points"), rows, hidden=True)
    texts = [dedent(row["code"]) for row in rows]
    public = [text for text, case in zip(texts, cases, strict=True) if not case.hidden]
    whole, given = {"name": name, "doctests": texts}, {"name": name, "doctests": public}
    return OtterTest(file, name, cases, bool(test.get("all_or_nothing", False)), whole, given)


def _read_functions(file: str, text: str, tree: ast.Module, values: dict[str, ast.expr]) -> OtterTest:
    name = _read_value(values, "name")
    if not isinstance(name, str):
        raise OtterError("does not define `name`, the question's name, as a text")
    decorated: dict[str, tuple[ast.FunctionDef, dict[str, object]]] = {}
    for node in [node for node in tree.body if isinstance(node, ast.FunctionDef)]:
        for call in node.decorator_list:
            function = call.func if isinstance(call, ast.Call) else call
            if getattr(function, "id", getattr(function, "attr", "")) == "test_case":
                decorated[node.name] = node, _read_decorator(call)
    rows = [row for _, row in decorated.values()]
    cases = _make_cases(name, _read_value(values, "points"), rows, hidden=False)
    lines = text.split("\n")  # hidden functions are emptied, so that the other lines keep their numbers
    for (node, _), case in zip(decorated.values(), cases, strict=True):
        first = min(node.lineno, *(decorator.lineno for decorator in node.decorator_list))
        for line in range(first - 1, node.end_lineno or node.lineno) if case.hidden else ():
            lines[line] = ""
    whole, given = {"name": name, "source": text}, {"name": name, "source": "\n".join(lines)}
    return OtterTest(file, name, cases, bool(_read_value(values, "all_or_nothing")), whole, given)


def _make_cases(
    question: str, points: object, rows: Sequence[Mapping[str, Any]], *, hidden: bool
) -> tuple[OtterCase, ...]:
    """Return the cases; `hidden` is for those that do not say whether they are."""
    worth = resolve_points(points, [row.get("points") for row in rows])
    cases = []
    for number, row in enumerate(rows, 1):
        name = str(row.get("name") or f"{question} - {number}")
        success, failure = str(row.get("success_message") or ""), str(row.get("failure_message") or "")
        cases.append(OtterCase(name, bool(row.get("hidden", hidden)), worth[number - 1], success, failure))
    return tuple(cases)


def _read_decorator(call: ast.expr) -> dict[str, object]:
    """Return the settings that `@test_case(…)` gives."""
    if not isinstance(call, ast.Call):
        raise OtterError(f"line {call.lineno}: `@test_case` needs its parentheses")
    if len(call.args) > len(_SETTINGS) or any(keyword.arg not in _SETTINGS for keyword in call.keywords):
        raise OtterError(f"line {call.lineno}: unexpected argument to `test_case`")
    given = dict(zip(_SETTINGS, call.args, strict=False)) | {str(k.arg): k.value for k in call.keywords}
    return {name: _read_value(given, name) for name in given}
