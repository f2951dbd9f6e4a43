"""Write a test's skeleton from the signature of a function or class of the key."""

import ast
import difflib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from viva.config import Assignment
from viva.formats.atomic_write import write_atomically
from viva.model.errors import CourseError, UsageError

TEMPLATE: Final = '''

@number({number})
@weight(1)
def test_{name}(student, key, rng):
    """Say in one sentence, for the student, what is asked."""
    for _ in range(5):
        {draws}
        agree(student.{name}({arguments}), key.{name}({arguments}))
'''
HEADER: Final = '''"""Question {number}."""

from viva.grading import {names}
'''
CLASS_TEMPLATE: Final = '''

@number({number})
@weight(1)
def test_{name}(student, key, rng):
    """Say in one sentence, for the student, what is asked."""
    for _ in range(5):
        {draws}
        calls = [{calls}]
        calls = [calls[i] for i in rng.integers(len(calls), size=10)]
        made = student.{name}.keep({arguments})
        agree([getattr(made, name)(*given) for name, *given in calls], key.played_{name}([{arguments}], calls))
'''
PLAYED: Final = '''

def played_{name}(arguments, calls):
    """Return what the methods of one {name} return when they are called in order."""
    made = {name}(*arguments)
    return [getattr(made, name)(*given) for name, *given in calls]
'''
"""In the key, because a test compares plain values: no object of the key's class leaves it."""
DRAWS: Final = {
    "str": '" ".join(rng.choice(["a", "b", "cat"], size=rng.integers(1, 8)))',
    "bool": "bool(rng.integers(2))",
    "int": "int(rng.integers(1, 10))",
    "float": "float(rng.normal())",
    "list[str]": 'rng.choice(["a", "b", "cat"], size=rng.integers(1, 8)).tolist()',
    "list[int]": "rng.integers(1, 10, size=rng.integers(1, 8)).tolist()",
    "list[float]": "rng.normal(size=rng.integers(1, 8)).tolist()",
}
"""How to draw an argument, by its annotation; `Sequence` counts as `list`."""
ARRAY: Final = "rng.normal(size=(4, 3))"
_NOTHING: Final = "# nothing to draw"

Definition = ast.FunctionDef | ast.ClassDef


def write_skeleton(assignment: Assignment, root: Path, question: str, function: str | None) -> Path:
    """Append a skeleton to the graders and return the file.

    Args:
        assignment: the assignment that gets the test.
        root: the folder of the course, where the package `reference` is.
        question: the question's number, as students see it.
        function: the key's function or class that the test asks; None for the only one that no test asks yet.

    Raises:
        UsageError: the key has no such function, a test already calls it, or the name is ambiguous.
        CourseError: the key, or what it imports, is missing or is not valid Python.
    """
    key = assignment.graders / "key.py"
    definitions = _definitions(key, root)
    name = function or _unasked(assignment, definitions)
    if name not in definitions:
        close = difflib.get_close_matches(name, definitions, 3)
        meant = f" Did you mean {', '.join(close)}?" if close else ""
        raise UsageError(f"{key} defines no function {name!r}: write the model answer first.{meant}")
    node = definitions[name]
    test = _of_class(question, node) if isinstance(node, ast.ClassDef) else _of_function(question, name, node)
    path = append_test(assignment, question, name, test, ("agree", "number", "weight"))
    if isinstance(node, ast.ClassDef) and f"played_{name}" not in _definitions(key, root):
        write_atomically(key, key.read_bytes() + PLAYED.format(name=name).encode())
    return path


def append_test(assignment: Assignment, question: str, name: str, test: str, imported: Sequence[str]) -> Path:
    """Append a test to the file of its question and return the file.

    Args:
        assignment: the assignment that gets the test.
        question: the question's number.
        name: the test's name without `test_`.
        test: its source code.
        imported: the names of `viva.grading` that it needs.

    Raises:
        UsageError: the file has such a test already.
    """
    path = test_file(assignment, question)
    before = path.read_bytes() if path.exists() else b""
    if f"def test_{name}(".encode() in before:
        raise UsageError(f"{path} has a test_{name} already.")
    if not before:
        before = HEADER.format(number=question, names=", ".join(imported)).encode()
    else:
        before = _importing(path, before, imported)
    write_atomically(path, before + test.encode())
    return path


def _importing(path: Path, source: bytes, names: Sequence[str]) -> bytes:
    """Return the source of a test file with an import of what it does not import from `viva.grading` yet."""
    imports = [n for n in parsed_key(path).body if isinstance(n, ast.ImportFrom) and n.module == "viva.grading"]
    there = {alias.name: alias for node in imports for alias in node.names}
    missing = [name for name in names if name not in there]
    if not missing:
        return source
    lines = source.splitlines(keepends=True)
    for node in imports:
        if node.lineno == node.end_lineno and not any(alias.asname for alias in node.names):
            joined = sorted({*missing, *(alias.name for alias in node.names)})
            end = b"\r\n" if lines[node.lineno - 1].endswith(b"\r\n") else b"\n"
            lines[node.lineno - 1] = f"from viva.grading import {', '.join(joined)}".encode() + end
            return b"".join(lines)
    after = imports[-1].end_lineno if imports else 0
    if not imports and (docstring := ast.get_docstring(parsed_key(path))) is not None and docstring:
        after = parsed_key(path).body[0].end_lineno
    lines.insert(after or 0, f"from viva.grading import {', '.join(missing)}\n".encode())
    return b"".join(lines)


def test_file(assignment: Assignment, question: str) -> Path:
    """Return the file of a question's tests, which may be new."""
    return assignment.graders / f"test_{re.sub(r'[^0-9A-Za-z]+', '_', question).strip('_') or 'question'}.py"


def _of_function(question: str, name: str, function: ast.FunctionDef) -> str:
    draws, arguments = _drawn(function, skipped=0)
    return TEMPLATE.format(number=_quoted(question), name=name, draws=draws, arguments=arguments)


def _of_class(question: str, node: ast.ClassDef) -> str:
    methods = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
    draws, arguments = _drawn(methods["__init__"], skipped=1) if "__init__" in methods else (_NOTHING, "")
    public = [each for each in methods.values() if not each.name.startswith("_") and not each.decorator_list]
    calls = [", ".join([f'("{each.name}"', *(_draw(_annotation(a)) for a in _required(each)[1:])]) for each in public]
    shown = ", ".join(f"{call},)" if "," not in call else f"{call})" for call in calls)
    return CLASS_TEMPLATE.format(
        number=_quoted(question), name=node.name, draws=draws, calls=shown, arguments=arguments
    )


def _drawn(function: ast.FunctionDef, *, skipped: int) -> tuple[str, str]:
    """Return the lines that draw a function's arguments, and the arguments; the first ones may be skipped (self)."""
    required = _required(function)[skipped:]
    draws = [f"{argument.arg} = {_draw(_annotation(argument))}" for argument in required]
    return "\n        ".join(draws) or _NOTHING, ", ".join(argument.arg for argument in required)


def _required(function: ast.FunctionDef) -> list[ast.arg]:
    return function.args.args[: len(function.args.args) - len(function.args.defaults)]


def _annotation(argument: ast.arg) -> str:
    return ast.unparse(argument.annotation) if argument.annotation else ""


def _quoted(question: str) -> str:
    return '"' + question.replace("\\", "").replace('"', "") + '"'


def _draw(annotation: str) -> str:
    plain = re.sub(r"\b(?:\w+\.)?(?:Sequence|Iterable|List)\b", "list", annotation)
    if re.search(r"[Aa]rray|Tensor", plain):
        return ARRAY
    if plain.startswith("list[list["):
        return f"[{DRAWS['list[str]']} for _ in range(2)]"
    return DRAWS.get(plain, DRAWS["list[str]" if plain.startswith("list") else "int"])


def _unasked(assignment: Assignment, definitions: dict[str, Definition]) -> str:
    """Return the one function of the key that no test calls.

    Raises:
        UsageError: there is none, or there are several.
    """
    tests = "\n".join(path.read_text("utf-8") for path in sorted(assignment.graders.glob("test_*.py")))
    left = [name for name in definitions if not re.search(rf"\bkey\.(played_)?{re.escape(name)}\b", tests)]
    if len(left) != 1:
        found = f"no test asks {', '.join(left)} yet" if left else "a test asks each function of the key already"
        raise UsageError(f"Which function? Name one as `viva new-test NUMBER FUNCTION`; {found}.")
    return left[0]


def _definitions(key: Path, root: Path) -> dict[str, Definition]:
    """Return functions and classes of the key by the names that students use: its own, and those from `reference`.

    Raises:
        CourseError: the key, or what it imports, is missing or is not valid Python.
    """
    found: dict[str, Definition] = {}
    for node in parsed_key(key).body:
        if isinstance(node, Definition) and not node.name.startswith("_"):
            found[node.name] = node
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "reference":
            there = _defined(root.joinpath(*node.module.split(".")))
            found |= {alias.asname or alias.name: there[alias.name] for alias in node.names if alias.name in there}
    return found


def _defined(module: Path) -> dict[str, Definition]:
    path = module.with_suffix(".py") if not module.is_dir() else module / "__init__.py"
    return {node.name: node for node in parsed_key(path).body if isinstance(node, Definition)}


def parsed_key(path: Path) -> ast.Module:
    """Return the syntax tree of the key, or of a module that it imports.

    Raises:
        CourseError: it is missing or is not valid Python.
    """
    try:
        return ast.parse(path.read_bytes(), str(path))
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}.") from None
    except (SyntaxError, ValueError) as error:
        raise CourseError(f"{path} is not valid Python: {error}.") from None
