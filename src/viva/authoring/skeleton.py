"""Write a test's skeleton from the signature of the key's function."""

import ast
import difflib
import re
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

from viva.grading import agree, number, weight
'''
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


def write_skeleton(assignment: Assignment, root: Path, question: str, function: str | None) -> Path:
    """Append a skeleton to the graders and return the file.

    Args:
        assignment: the assignment that gets the test.
        root: the folder of the course, where the package `reference` is.
        question: the question's number, as students see it.
        function: the key's function that the test asks; None for the only one that no test asks yet.

    Raises:
        UsageError: the key has no such function, a test asks it already, or which one is meant cannot be told.
        CourseError: the key, or what it imports, is missing or is not valid Python.
    """
    signatures = _signatures(assignment.graders / "key.py", root)
    name = function or _unasked(assignment, signatures)
    if name not in signatures:
        close = difflib.get_close_matches(name, signatures, 3)
        meant = f" Did you mean {', '.join(close)}?" if close else ""
        raise UsageError(
            f"{assignment.graders / 'key.py'} defines no function {name!r}: write the model answer first.{meant}"
        )
    path = assignment.graders / f"test_{re.sub(r'[^0-9A-Za-z]+', '_', question).strip('_') or 'question'}.py"
    before = path.read_bytes() if path.exists() else b""
    if f"def test_{name}(".encode() in before:
        raise UsageError(f"{path} has a test_{name} already.")
    skeleton = _skeleton(question, name, signatures[name])
    write_atomically(path, (before or HEADER.format(number=question).encode()) + skeleton.encode())
    return path


def _skeleton(question: str, name: str, function: ast.FunctionDef) -> str:
    required = function.args.args[: len(function.args.args) - len(function.args.defaults)]
    draws = [f"{a.arg} = {_draw(ast.unparse(a.annotation) if a.annotation else '')}" for a in required]
    quoted = '"' + question.replace("\\", "").replace('"', "") + '"'
    arguments = ", ".join(a.arg for a in required)
    return TEMPLATE.format(
        number=quoted, name=name, draws="\n        ".join(draws) or "# nothing to draw", arguments=arguments
    )


def _draw(annotation: str) -> str:
    plain = re.sub(r"\b(?:\w+\.)?(?:Sequence|Iterable|List)\b", "list", annotation)
    if re.search(r"[Aa]rray|Tensor", plain):
        return ARRAY
    if plain.startswith("list[list["):
        return f"[{DRAWS['list[str]']} for _ in range(2)]"
    return DRAWS.get(plain, DRAWS["list[str]" if plain.startswith("list") else "int"])


def _unasked(assignment: Assignment, signatures: dict[str, ast.FunctionDef]) -> str:
    """Return the one function of the key that no test calls.

    Raises:
        UsageError: there is none, or there are several.
    """
    tests = "\n".join(path.read_text("utf-8") for path in sorted(assignment.graders.glob("test_*.py")))
    left = [name for name in signatures if not re.search(rf"\bkey\.{re.escape(name)}\b", tests)]
    if len(left) != 1:
        found = f"no test asks {', '.join(left)} yet" if left else "a test asks each function of the key already"
        raise UsageError(f"Which function? Name one as `viva new-test NUMBER FUNCTION`; {found}.")
    return left[0]


def _signatures(key: Path, root: Path) -> dict[str, ast.FunctionDef]:
    """Return the key's functions by the names that students use: its own, and those it imports from `reference`.

    Raises:
        CourseError: the key, or what it imports, is missing or is not valid Python.
    """
    found: dict[str, ast.FunctionDef] = {}
    for node in _parsed(key).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            found[node.name] = node
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "reference":
            there = _functions(root.joinpath(*node.module.split(".")))
            found |= {alias.asname or alias.name: there[alias.name] for alias in node.names if alias.name in there}
    return found


def _functions(module: Path) -> dict[str, ast.FunctionDef]:
    path = module.with_suffix(".py") if not module.is_dir() else module / "__init__.py"
    return {node.name: node for node in _parsed(path).body if isinstance(node, ast.FunctionDef)}


def _parsed(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_bytes(), str(path))
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}.") from None
    except (SyntaxError, ValueError) as error:
        raise CourseError(f"{path} is not valid Python: {error}.") from None
