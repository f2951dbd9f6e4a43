"""Otter's test files, read as text and never run: names, points, hidden cases, and what each puts into the box."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from textwrap import dedent
from typing import Any, Final

from viva.model.errors import CourseError


class PointsError(Exception):
    """Points that are impossible; the text is a phrase for the author."""


def exact(value: Any) -> Fraction:
    """Return a number of points as it was written: 0.1 is one tenth.

    Raises:
        PointsError: it is not a number, or negative.
    """
    if type(value) not in (int, float) or not 0 <= value < 1e9:
        raise PointsError(f"points are {value!r:.40}; expected a number, zero or more")
    return Fraction(str(value))


def resolve(question: object, cases: Sequence[object]) -> list[Fraction]:
    """Return the points of each case.

    Args:
        question: what the question says: a number that its cases share, a list with one for each case, or None.
        cases: what each case says itself: a number, or None.

    Raises:
        PointsError: a list of another length, or the cases say more than the question is worth.
    """
    if isinstance(question, list):
        if len(question) != len(cases):
            raise PointsError(f"points are a list of {len(question)}, but there are {len(cases)} cases")
        cases, question = question, None
    own = [None if value is None else exact(value) for value in cases]
    said = sum((value for value in own if value is not None), Fraction(0))
    silent = sum(value is None for value in own)
    if question is not None:
        left = exact(question) - said
        if left < 0:
            raise PointsError(f"the cases are worth {float(said):g} points, more than the question's {question:g}")
    else:  # only zeros are given: the question is worth one point
        left = Fraction(0) if said else Fraction(1)
    share = left / silent if silent else Fraction(0)
    return [share if value is None else value for value in own]


FOLDER: Final = "tests"
"""The folder of the test files, below graders/<a>/."""
MOST_BYTES: Final = 4 << 20
_DECORATOR: Final = ("name", "points", "hidden", "success_message", "failure_message")
_CASE: Final = frozenset({"name", "code", "hidden", "locked", "points", "success_message", "failure_message"})


class _TestFileError(Exception):
    """What is wrong with a test file, as a phrase."""


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


def read_tests(folder: Path) -> tuple[OtterTest, ...]:
    """Read all test files of the folder, in the order in which otter runs them.

    Raises:
        CourseError: there is none, or one says what cannot be known without running it.
    """
    paths = sorted(p for p in folder.glob("*.py") if p.is_file() and not p.is_symlink() and p.stem != "__init__")
    if not paths:
        raise CourseError(f"{folder} holds no test file: `suite: otter` expects otter's tests (q1.py, …) there.")
    tests = []
    for path in paths:
        try:
            tests.append(_read(path))
        except (_TestFileError, PointsError) as error:
            raise CourseError(f"{path}: {error}.") from None
    names = [test.name for test in tests]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise CourseError(f"{folder}: two files say that they are the question `{twice}`; otter would count one.")
    return tuple(tests)


def _read(path: Path) -> OtterTest:
    try:
        data = path.read_bytes()
        if len(data) > MOST_BYTES:
            raise _TestFileError(f"is larger than {MOST_BYTES >> 20} MiB; put data into files of their own")
        text = data.decode("utf-8-sig")
        tree = ast.parse(text)
    except SyntaxError as error:
        raise _TestFileError(f"is not valid Python (line {error.lineno}: {error.msg})") from None
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        raise _TestFileError(f"cannot be read: {error}") from None
    values = _assigned(tree)
    if "OK_FORMAT" not in values:
        raise _TestFileError(
            "does not say OK_FORMAT = True or False, so it is not a test file in otter's current format"
        )
    return (
        _from_ok_format(path.stem, values)
        if _literal(values, "OK_FORMAT")
        else _from_functions(path.stem, text, tree, values)
    )


def _assigned(tree: ast.Module) -> dict[str, ast.expr]:
    found: dict[str, ast.expr] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            found |= {target.id: node.value for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            found[node.target.id] = node.value
    return found


def _literal(values: dict[str, ast.expr], name: str, default: object = None) -> object:
    return _value(values[name], name) if name in values else default


def _value(node: ast.expr, what: str) -> object:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise _TestFileError(
            f"line {node.lineno}: `{what}` is worked out when the file is run; write it as a plain value"
        ) from None


def _from_ok_format(file: str, values: dict[str, ast.expr]) -> OtterTest:
    test = _literal(values, "test")
    if not isinstance(test, dict) or not isinstance(test.get("name"), str):
        raise _TestFileError("`test` is not a dictionary with a name")
    suites = test.get("suites")
    if not isinstance(suites, list) or len(suites) != 1 or not isinstance(suites[0], dict):
        raise _TestFileError("`suites` is not a list of exactly one suite, which is all that otter runs")
    suite = suites[0]
    if suite.get("type", "doctest") != "doctest" or suite.get("setup") or suite.get("teardown"):
        raise _TestFileError("the suite has a setup, a teardown or a type other than doctest, which otter does not run")
    rows = suite.get("cases")
    if not isinstance(rows, list) or not all(isinstance(r, dict) and isinstance(r.get("code"), str) for r in rows):
        raise _TestFileError("`cases` is not a list of cases with their `code`")
    if strange := next((key for row in rows for key in row if key not in _CASE), None):
        raise _TestFileError(f"a case has the key {strange!r:.40}, which otter does not know")
    points = resolve(test.get("points"), [row.get("points") for row in rows])
    cases = [
        OtterCase(
            str(row.get("name", f"{test['name']} - {number}")),
            bool(row.get("hidden", True)),
            worth,
            str(row.get("success_message") or ""),
            str(row.get("failure_message") or ""),
        )
        for number, (row, worth) in enumerate(zip(rows, points, strict=True), 1)
    ]
    texts = [dedent(row["code"]) for row in rows]
    public = [text for text, case in zip(texts, cases, strict=True) if not case.hidden]
    name = test["name"]
    return OtterTest(
        file,
        name,
        tuple(cases),
        bool(test.get("all_or_nothing", False)),
        {"name": name, "doctests": texts},
        {"name": name, "doctests": public},
    )


def _from_functions(file: str, text: str, tree: ast.Module, values: dict[str, ast.expr]) -> OtterTest:
    name = _literal(values, "name")
    if not isinstance(name, str):
        raise _TestFileError("does not define `name`, the question's name, as a text")
    decorated = {
        node.name: (node, call)
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        for call in node.decorator_list
        if _is_test_case(call)
    }
    settings = [_decorator_settings(call) for _, call in decorated.values()]
    points = resolve(_literal(values, "points"), [row["points"] for row in settings])
    cases = [
        OtterCase(
            str(row["name"] or f"{name} - {number}"),
            bool(row["hidden"]),
            worth,
            str(row["success_message"] or ""),
            str(row["failure_message"] or ""),
        )
        for number, (row, worth) in enumerate(zip(settings, points, strict=True), 1)
    ]
    hidden = [node for (node, _), case in zip(decorated.values(), cases, strict=True) if case.hidden]
    return OtterTest(
        file,
        name,
        tuple(cases),
        bool(_literal(values, "all_or_nothing")),
        {"name": name, "source": text},
        {"name": name, "source": _without(text, hidden)},
    )


def _is_test_case(node: ast.expr) -> bool:
    function = node.func if isinstance(node, ast.Call) else node
    return (isinstance(function, ast.Name) and function.id == "test_case") or (
        isinstance(function, ast.Attribute) and function.attr == "test_case"
    )


def _decorator_settings(call: ast.expr) -> dict[str, object]:
    settings: dict[str, object] = dict.fromkeys(_DECORATOR)
    if not isinstance(call, ast.Call):
        raise _TestFileError(f"line {call.lineno}: `@test_case` needs its parentheses")
    if len(call.args) > len(_DECORATOR) or any(k.arg not in _DECORATOR for k in call.keywords):
        raise _TestFileError(f"line {call.lineno}: `test_case` is given what it does not take")
    given = {**dict(zip(_DECORATOR, call.args, strict=False)), **{str(k.arg): k.value for k in call.keywords}}
    return settings | {name: _value(node, name) for name, node in given.items()}


def _without(text: str, nodes: list[ast.FunctionDef]) -> str:
    """Return the text with these functions' lines emptied, so that the other lines keep their numbers."""
    lines = text.split("\n")
    for node in nodes:
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        for line in range(first - 1, node.end_lineno or node.lineno):
            lines[line] = ""
    return "\n".join(lines)
