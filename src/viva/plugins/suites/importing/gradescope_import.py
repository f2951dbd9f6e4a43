"""Gradescope: `tests/test_*.py` written for gradescope-utils, with `run_tests.py` and `setup.sh` next to them."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Final

from viva.model.errors import UsageError
from viva.plugins.suites.importing.bundle import read_bundle, select_below
from viva.plugins.suites.importing.new_course import ImportedAssignment, make_folder_name
from viva.submissions.code_imports import imported, is_installed, preloads

_NOT_DATA: Final = ("run_tests.py", "setup.sh", "run_autograder", "requirements.txt", "README.md", "setup.py")
_NAMES_FILES: Final = ("check_submitted_files", "run", "Popen", "call", "check_call", "check_output", "getoutput")
"""Functions whose arguments name files of the student's: gradescope-utils' own, and those of subprocess."""
_PROGRAM: Final = re.compile(r"[\w./-]*\w\.py\b")
_HARNESS: Final = ("gradescope_utils", "unittest", "pytest")


def import_gradescope(path: Path, module: str | None = None, tests: str | None = None) -> list[ImportedAssignment]:
    """Return the assignment of an autograder's folder or zip archive.

    Args:
        path: the folder or archive.
        module: the file that students submit, such as hw1.py; None to find it. A solution of that name becomes an
            example of a right submission.
        tests: the folder of the suite, below `path`; None to find it.

    Raises:
        UsageError: it holds no unittest suite, or it does not show what students submit.
    """
    files = read_bundle(path)
    found = _find_suite(files, tests)
    if found is None:
        raise UsageError(
            f"{path} holds no {tests or 'tests'}/test*.py: expected a Gradescope autograder with a suite of "
            "gradescope-utils. Name its folder with --tests."
        )
    root, folder = found
    files = select_below(files, root)
    suite, data = _split_files(files, folder)
    texts = {file: _decode(content) for file, content in suite.items() if file.endswith(".py")}
    for test_file, text in texts.items():
        _refuse_deductions(f"{path}: {test_file}", text)
    own = {PurePosixPath(file).stem for file in (*suite, *data) if file.endswith(".py")}
    modules = [module.removesuffix(".py")] if module else _find_modules(texts.values(), own)
    if not modules:
        raise UsageError(
            f"{path}: viva cannot tell which module students submit, because no test imports a missing module. "
            "Name it with --module, such as --module hw1.py."
        )
    submitted = sorted(f"{name}.py" for name in set(modules))
    name = make_folder_name(path.resolve().name.removesuffix(".zip"))
    settings = {
        "title": name,
        "suite": "unittest",
        "submission": {"notebook": None, "module": f"{modules[0]}.py"},
        "preload": preloads(texts.values()),
    }
    assignment = ImportedAssignment(name, settings, {f"tests/{file}": content for file, content in suite.items()})
    if len(modules) > 1:
        assignment.starter = dict.fromkeys(submitted, b"# Hand in this file.\n")
    solutions = {file for file in data if PurePosixPath(file).name in submitted}
    assignment.accepted = {PurePosixPath(file).name: data[file] for file in data if file in solutions}
    assignment.add_data({file: content for file, content in data.items() if file not in solutions})
    assignment.notes = list(_list_notes(files))
    return [assignment]


def _find_suite(files: Mapping[str, bytes], named: str | None) -> tuple[str, str] | None:
    """Return the folder of the autograder, and in it that of the suite: "" where its tests lie next to the rest.

    The suite is in the named folder, or in the least nested one called tests or test, or where there are tests.
    """
    folders = {PurePosixPath(file).parent for file in files if _is_test(file)}
    if named is not None:
        folders &= {PurePosixPath(named.strip("/"))}
    ranks = {"tests": 0, "test": 1}
    best = min(folders, key=lambda p: (ranks.get(p.name, 2), len(p.parts), str(p)), default=None)
    if best is None:
        return None
    has_own_folder = best.name in ranks or (named is not None and bool(best.parts))
    root = best.parent if has_own_folder else best
    return "" if str(root) == "." else str(root), best.name if has_own_folder else ""


def _split_files(files: Mapping[str, bytes], folder: str) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Return the files of the suite by their path in its folder, and those that lie next to the submission."""
    suite, data = select_below(files, folder), {}
    if not folder:
        suite = {file: content for file, content in files.items() if _is_test(file)}
    for file, content in files.items():
        top = PurePosixPath(file).parts[0]
        is_of_tests = top in (folder, "tests") if folder else file in suite
        is_for_harness = file in _NOT_DATA or top in ("submission", "results") or file.endswith((".sh", ".md"))
        if not is_of_tests and not is_for_harness:
            data[file] = content
    return suite, data


def _is_test(path: str) -> bool:
    return fnmatchcase(PurePosixPath(path).name, "test*.py")


def _find_modules(texts: Iterable[str], own: set[str]) -> list[str]:
    """Return modules that tests use and that neither belong to the author nor are installed, most frequent first."""
    counted: Counter[str] = Counter()
    for text in texts:
        modules = {name.partition(".")[0] for name in imported(text)} | {*_list_named_files(text)}
        counted.update(name for name in modules - own - {*_HARNESS} if not is_installed(name))
    return sorted(counted, key=lambda module: (-counted[module], module))


def _refuse_deductions(shown: str, text: str) -> None:
    """Refuse a test that takes points off.

    Raises:
        UsageError: a decorator gives a test fewer than zero points.
    """
    for name, call in _list_calls(text):
        values = [*call.args, *(keyword.value for keyword in call.keywords)]
        is_negative = any(isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub) for value in values)
        if name in ("weight", "partial_credit") and is_negative:
            raise UsageError(
                f"{shown}, line {call.lineno}: `{ast.unparse(call)}` takes points off, and a test of viva cannot; "
                "give the points to a test that passes if the mistake is not there."
            )


def _list_named_files(text: str) -> Iterator[str]:
    """Yield the modules whose files a test asks Gradescope for, or runs as programs."""
    for name, call in _list_calls(text):
        nodes = [node for argument in call.args for node in ast.walk(argument)] if name in _NAMES_FILES else []
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from (PurePosixPath(file).stem for file in _PROGRAM.findall(node.value))


def _list_calls(text: str) -> Iterator[tuple[str, ast.Call]]:
    """Yield the name of each function that is called, and the call; nothing of a file that is not valid Python."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in nodes:
        if isinstance(node, ast.Call):
            function = node.func
            yield function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", ""), node


def _list_notes(files: Mapping[str, bytes]) -> Iterator[str]:
    if wanted := _decode(files.get("requirements.txt", b"")).split():
        yield f"requirements.txt is not installed; see that these are there: {', '.join(wanted[:20])}."
    if "setup.sh" in files:
        yield "setup.sh is not run: what it installs must be there where you grade."
    if "post_processor" in _decode(files.get("run_tests.py", b"")):
        yield "run_tests.py changes results by a post_processor (late penalties?); that is not done."


def _decode(data: bytes) -> str:
    return data.decode("utf-8-sig", "replace")
