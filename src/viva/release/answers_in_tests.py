"""Find public tests that compare an answer by hand with the right answer written out in the test itself.

Students get the source of public tests, so such a test would hand out its answer. The search reads the source alone: it
follows what is read from `submission.answers` through names, calls and helper functions of the same file.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Final

_ANSWERS: Final = "submission.answers"
_COMPARING: Final = frozenset({"isclose", "allclose", "array_equal", "assert_allclose", "assert_array_equal"})
"""Functions whose second argument is what the first one is compared with, besides those that begin with `agree`."""
_NOT_THE_VALUE: Final = frozenset({"len", "isinstance", "type", "callable", "bool"})
"""Functions whose result says little about the answer that they get."""
_FORM: Final = frozenset({"shape", "ndim", "size", "dtype"})
_SAYS_NOTHING: Final = (None, True, False, "", ...)


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """A right answer in the source of a test."""

    test: str
    line: int
    literal: str
    """As it is written."""


def written_answers(source: str, tests: Iterable[str]) -> list[WrittenAnswer]:
    """Return the right answers that the source of a test file shows, at most one for each test.

    Args:
        source: a test file.
        tests: the names of the test functions to look into.

    Raises:
        SyntaxError: the source is not valid Python.
    """
    module = ast.parse(source)
    functions = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}
    top_level = [node for node in module.body if not isinstance(node, ast.FunctionDef | ast.ClassDef)]
    constants = _names_of_constants(top_level, set())
    found = []
    for name in tests:
        if name in functions:
            reader = _Reader(functions, constants)
            if literal := next(reader.literals(functions[name], frozenset()), None):
                found.append(WrittenAnswer(name, literal.lineno, ast.unparse(literal)))
    return found


def asking_for_answers(source: str) -> set[str]:
    """Return the functions of a test file that read `key.answers`, themselves or in a helper of the same file."""
    functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    found: set[str] = set()
    while True:
        more = {function.name for function in functions if _mentions(function, found)}
        if more <= found:
            return found
        found |= more


def _mentions(function: ast.FunctionDef, names: Set[str]) -> bool:
    """Return whether a function reads one of the names, or `key.answers`."""
    return any(
        (isinstance(node, ast.Name) and node.id in names)
        or (isinstance(node, ast.Attribute) and node.attr == "answers" and _called_key(node.value))
        for node in ast.walk(function)
    )


def _called_key(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "key"


class _Reader:
    """Follows answers through one test and the helper functions that it gives them to."""

    def __init__(self, functions: Mapping[str, ast.FunctionDef], constants: set[str]) -> None:
        self._functions, self._constants = functions, constants
        self._seen: set[tuple[str, frozenset[str]]] = set()

    def literals(self, function: ast.FunctionDef, answers: frozenset[str]) -> Iterator[ast.expr]:
        """Yield the literals that answers are compared with.

        Args:
            function: the test or helper.
            answers: the parameters that hold an answer.
        """
        if (function.name, answers) in self._seen:
            return
        self._seen.add((function.name, answers))
        parametrized = _parametrized(function)
        own = {argument.arg for argument in ast.walk(function) if isinstance(argument, ast.arg)} - parametrized
        constants = _names_of_constants(function.body, (self._constants | parametrized) - own)
        values = _Values(_names_of_answers(function, set(answers)), constants)
        for node in ast.walk(function):
            if (condition := _deciding(node)) is not None:
                for compare in (inner for inner in ast.walk(condition) if isinstance(inner, ast.Compare)):
                    yield from values.compared(compare)
            elif isinstance(node, ast.Match) and values.is_answer(node.subject):
                yield from (p.value for case in node.cases for p in ast.walk(case) if isinstance(p, ast.MatchValue))
            elif isinstance(node, ast.Call):
                yield from values.agreed(node)
                helper = self._functions.get(_called(node))
                if helper is not None:
                    yield from self.literals(helper, _parameters_with(helper, node, values))


class _Values:
    """Tells which expressions of a function hold an answer, and which are made of constants."""

    def __init__(self, answers: set[str], constants: set[str]) -> None:
        self._answers, self._constants = answers, constants - answers

    def is_answer(self, node: ast.AST) -> bool:
        return _holds_answer(node, self._answers)

    def is_literal(self, node: ast.AST) -> bool:
        """Return whether the expression is made of constants alone, and says something."""
        return (
            not self.is_answer(node)
            and _is_constant(node, self._constants)
            and any(
                (isinstance(inner, ast.Constant) and inner.value not in _SAYS_NOTHING)
                or (isinstance(inner, ast.Name) and inner.id in self._constants)
                for inner in ast.walk(node)
            )
        )

    def compared(self, node: ast.Compare) -> Iterator[ast.expr]:
        sides = [node.left, *node.comparators]
        for left, operator, right in zip(sides, node.ops, sides[1:], strict=False):
            if isinstance(operator, ast.Eq | ast.NotEq | ast.In | ast.NotIn):
                yield from (b for a, b in ((left, right), (right, left)) if self.is_answer(a) and self.is_literal(b))
        differences = (n for side in sides for n in ast.walk(side) if isinstance(n, ast.BinOp))
        for inner in (n for n in differences if isinstance(n.op, ast.Sub)):
            pairs = ((inner.left, inner.right), (inner.right, inner.left))
            yield from (b for a, b in pairs if self.is_answer(a) and self.is_literal(b))

    def agreed(self, node: ast.Call) -> Iterator[ast.expr]:
        name = _called(node)
        if not (name.startswith("agree") or name in _COMPARING) or not (node.args and self.is_answer(node.args[0])):
            return
        wanted = [*node.args[1:2], *(k.value for k in node.keywords if k.arg in ("expected", "desired"))]
        yield from filter(self.is_literal, wanted)


def _deciding(node: ast.AST) -> ast.expr | None:
    """Return the condition of an `assert`, or of an `if` that ends the test; conditions that read a form stay out."""
    if isinstance(node, ast.Assert):
        return node.test
    if isinstance(node, ast.If):
        inner = [n for branch in (node.body, node.orelse) for statement in branch for n in ast.walk(statement)]
        if any(isinstance(n, ast.Raise) or (isinstance(n, ast.Call) and "fail" in _called(n)) for n in inner):
            return node.test
    return None


def _holds_answer(node: ast.AST, names: set[str]) -> bool:
    """Return whether the value of the expression is an answer, or made of one."""
    if isinstance(node, ast.Call) and _called(node) in _NOT_THE_VALUE:
        return False
    if isinstance(node, ast.Compare | ast.BoolOp | ast.Constant):
        return False
    if isinstance(node, ast.Attribute) and (node.attr in _FORM or ast.unparse(node) == _ANSWERS):
        return node.attr not in _FORM
    if isinstance(node, ast.Name):
        return node.id in names
    return any(_holds_answer(child, names) for child in ast.iter_child_nodes(node))


def _is_constant(node: ast.AST, names: set[str]) -> bool:
    """Return whether the expression is made of literals and of names of constants."""
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.Subscript):  # EXPECTED[question] is one of the constants
        return _is_constant(node.value, names)
    if isinstance(node, ast.Call):
        parts = [*node.args, *(keyword.value for keyword in node.keywords)]
        return bool(parts) and _of_a_module(node.func) and all(_is_constant(part, names) for part in parts)
    if isinstance(node, ast.Attribute | ast.Lambda):
        return False
    return all(_is_constant(child, names) for child in ast.iter_child_nodes(node))


def _of_a_module(function: ast.expr) -> bool:
    """Return whether the function belongs to a module or is built in: neither the key nor the student answers."""
    while isinstance(function, ast.Attribute):
        function = function.value
    return isinstance(function, ast.Name) and function.id not in ("key", "student", "submission")


def _names_of_constants(body: list[ast.stmt], known: set[str]) -> set[str]:
    """Return the names that only ever hold constants in these statements, and those that are known to."""
    bound = [pair for statement in body for node in ast.walk(statement) for pair in _assigned(node)]
    names = known | set[str]().union(*(targets for targets, _ in bound))
    while True:
        filled_later = [targets for targets, value in bound if ast.unparse(value).strip("[]{}(), ") == ""]
        others = set[str]().union(*filled_later, *(t for t, value in bound if not _is_constant(value, names)))
        if not others & names:
            return names
        names -= others


def _names_of_answers(function: ast.FunctionDef, names: set[str]) -> set[str]:
    """Return the names that hold an answer anywhere in the function."""
    bound = [pair for node in ast.walk(function) for pair in _assigned(node)]
    while True:
        more = names.union(*(targets for targets, value in bound if _holds_answer(value, names)))
        if more == names:
            return names
        names = more


def _assigned(node: ast.AST) -> Iterator[tuple[set[str], ast.expr]]:
    """Yield the names that a statement or expression binds, and what to."""
    if isinstance(node, ast.Assign):
        targets, value = node.targets, node.value
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr | ast.AugAssign) and node.value is not None:
        targets, value = [node.target], node.value
    elif isinstance(node, ast.For | ast.comprehension):
        targets, value = [node.target], node.iter
    else:
        return
    yield {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}, value


def _parametrized(function: ast.FunctionDef) -> set[str]:
    """Return the arguments that get their values from `pytest.mark.parametrize`."""
    names: set[str] = set()
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and _called(decorator) == "parametrize" and decorator.args:
            given = [n.value for n in ast.walk(decorator.args[0]) if isinstance(n, ast.Constant)]
            names |= {name.strip() for text in given if isinstance(text, str) for name in text.split(",")}
    return names


def _parameters_with(helper: ast.FunctionDef, call: ast.Call, values: _Values) -> frozenset[str]:
    """Return the parameters of a helper that get an answer in this call."""
    names = [argument.arg for argument in (*helper.args.posonlyargs, *helper.args.args)]
    given = [*zip(names, call.args, strict=False), *((k.arg, k.value) for k in call.keywords if k.arg)]
    return frozenset(name for name, value in given if values.is_answer(value))


def _called(node: ast.Call) -> str:
    """Return the last part of the name of the function that is called."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""
