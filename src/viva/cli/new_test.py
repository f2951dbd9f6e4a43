"""`viva new-test NUMBER`: a test's skeleton from the signature of the key's function."""

import ast
import re
from pathlib import Path

import click

from viva.cli.options import course_option, open_course
from viva.course import Assignment, Course
from viva.model.errors import UsageError

TEMPLATE = '''

@number("{number}")
@weight(1)
def test_{name}(student, key, rng):
    """Say in one sentence, for the student, what is asked."""
    for _ in range(5):
        {draws}
        agree(student.{name}({arguments}), key.{name}({arguments}))
'''
HEADER = '''"""Question {number}."""

from viva.grading import agree, number, weight
'''


@click.command("new-test")
@click.argument("question", metavar="NUMBER")
@click.argument("function", metavar="FUNCTION")
@click.option("--assignment", "-a", metavar="NAME", help="The assignment (needed where the course has several).")
@course_option
def command(question: str, function: str, assignment: str | None, course_dir: Path | None) -> int:
    """Append a skeleton for question NUMBER to the graders, asking FUNCTION of the answer key."""
    course = open_course(course_dir)
    chosen = _assignment(course, assignment)
    arguments = _arguments(chosen.graders / "key.py", course.root, function)
    safe = re.sub(r"\W+", "_", question)
    path = chosen.graders / f"test_{safe}.py"
    draws = " ".join(f"{a} = rng.integers(1, 10)".join(("", ";")) for a in arguments).rstrip(";") or "pass"
    text = TEMPLATE.format(number=question, name=function, draws=draws, arguments=", ".join(arguments))
    if path.exists() and f"def test_{function}(" in path.read_text("utf-8"):
        raise UsageError(f"{path} has a test_{function} already.")
    with path.open("a", encoding="utf-8") as file:
        if file.tell() == 0:
            file.write(HEADER.format(number=question))
        file.write(text)
    click.echo(f"{path}: draw what the question is about, then run `viva verify {chosen.name}`.")
    return 0


def _assignment(course: Course, name: str | None) -> Assignment:
    if name is None and len(course.assignments) != 1:
        raise UsageError(f"Which assignment? Say --assignment NAME: {', '.join(course.assignments)}.")
    return course.assignment(name or course.assignments[0])


def _arguments(key: Path, root: Path, function: str) -> list[str]:
    """The required arguments of a function that the key defines or imports from `reference`.

    Raises:
        UsageError: the key has no such function.
    """
    files = [key, *sorted((root / "reference").glob("*.py"))]
    known: list[str] = []
    for path in (p for p in files if p.is_file()):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                if node.name == function:
                    required = node.args.args[: len(node.args.args) - len(node.args.defaults)]
                    return [a.arg for a in required]
                known.append(node.name)
    import difflib

    close = difflib.get_close_matches(function, known, 3)
    meant = f" Did you mean {', '.join(close)}?" if close else ""
    raise UsageError(f"{key} defines no function {function!r}: write the model answer first.{meant}")
