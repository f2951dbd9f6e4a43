"""Gradescope: `tests/test_*.py` written for gradescope-utils, with `run_tests.py` and `setup.sh` next to them."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Final

from viva.model.errors import UsageError
from viva.plugins.suites.importing.bundle import below, read_bundle
from viva.plugins.suites.importing.new_course import ImportedAssignment, folder_name
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
    found = _suite_folder(files, tests)
    if found is None:
        raise UsageError(
            f"{path} holds no {tests or 'tests'}/test*.py: expected a Gradescope autograder with a suite of "
            "gradescope-utils. Name its folder with --tests."
        )
    root, folder = found
    files = below(files, root)
    suite = below(files, folder) if folder else {p: d for p, d in files.items() if _is_test(p)}
    rest = {p: d for p, d in files.items() if p not in suite} if not folder else _outside(files, folder)
    data = {p: d for p, d in rest.items() if _is_data(p)}
    texts = {p: _text(d) for p, d in suite.items() if p.endswith(".py")}
    for test_file, text in texts.items():
        _refuse_deductions(f"{path}: {test_file}", text)
    own = {PurePosixPath(p).stem for p in [*suite, *data] if p.endswith(".py")}
    modules = [module.removesuffix(".py")] if module else _students_modules(texts.values(), own)
    if not modules:
        raise UsageError(
            f"{path}: viva cannot tell which module students submit, because no test imports a missing module. "
            "Name it with --module, such as --module hw1.py."
        )
    submitted = {f"{each}.py" for each in modules}
    accepted = {PurePosixPath(p).name: d for p, d in data.items() if PurePosixPath(p).name in submitted}
    data = {p: d for p, d in data.items() if PurePosixPath(p).name not in submitted}
    name = folder_name(path.resolve().name.removesuffix(".zip"))
    settings = {
        "title": name,
        "suite": "unittest",
        "submission": {"notebook": None, "module": f"{modules[0]}.py"},
        "preload": preloads(texts.values()),
    }
    imported = ImportedAssignment(name, settings, {f"tests/{p}": d for p, d in suite.items()})
    imported.starter = dict.fromkeys(sorted(submitted), b"# Hand in this file.\n") if len(modules) > 1 else {}
    imported.accepted = accepted
    imported.add_data(data)
    imported.notes = _notes(files)
    return [imported]


def _suite_folder(files: Mapping[str, bytes], named: str | None) -> tuple[str, str] | None:
    """Return the folder of the autograder, and in it that of the suite: "" where its tests lie next to the rest.

    The suite is in the named folder, or in the least nested one called tests or test, or where there are tests.
    """
    folders = {PurePosixPath(p).parent for p in files if _is_test(p)}
    if named is not None:
        folders &= {PurePosixPath(named.strip("/"))}
    ranks = {"tests": 0, "test": 1}
    best = min(folders, key=lambda p: (ranks.get(p.name, 2), len(p.parts), str(p)), default=None)
    if best is None:
        return None
    inside = best.name in ranks or (named is not None and bool(best.parts))
    root = best.parent if inside else best
    return "" if str(root) == "." else str(root), best.name if inside else ""


def _outside(files: Mapping[str, bytes], folder: str) -> dict[str, bytes]:
    """Return the files that are neither in the folder of the suite nor in another one called tests."""
    return {p: d for p, d in files.items() if PurePosixPath(p).parts[0] not in (folder, "tests")}


def _is_test(path: str) -> bool:
    return fnmatchcase(PurePosixPath(path).name, "test*.py")


def _is_data(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return path not in _NOT_DATA and parts[0] not in ("submission", "results") and not path.endswith((".sh", ".md"))


def _students_modules(texts: Iterable[str], beside: set[str]) -> list[str]:
    """Return modules that tests use and that neither belong to the author nor are installed, most frequent first."""
    counted: dict[str, int] = {}
    for text in texts:
        for module in {name.partition(".")[0] for name in imported(text)} | set(_named_files(text)):
            if module not in beside and module not in _HARNESS and not is_installed(module):
                counted[module] = counted.get(module, 0) + 1
    return sorted(counted, key=lambda module: (-counted[module], module))


def _refuse_deductions(shown: str, text: str) -> None:
    """Refuse a test that takes points off.

    Raises:
        UsageError: a decorator gives a test fewer than zero points.
    """
    for call in _calls(text):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        is_negative = any(isinstance(each, ast.UnaryOp) and isinstance(each.op, ast.USub) for each in given)
        if name in ("weight", "partial_credit") and is_negative:
            raise UsageError(
                f"{shown}, line {call.lineno}: `{ast.unparse(call)}` takes points off, and a test of viva cannot; "
                "give the points to a test that passes if the mistake is not there."
            )


def _calls(text: str) -> list[ast.Call]:
    try:
        return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _named_files(text: str) -> Iterator[str]:
    """Yield the modules whose files a test asks Gradescope for, or runs as programs."""
    for call in _calls(text):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name not in _NAMES_FILES:
            continue
        for node in (part for argument in call.args for part in ast.walk(argument)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from (PurePosixPath(file).stem for file in _PROGRAM.findall(node.value))


def _notes(files: Mapping[str, bytes]) -> list[str]:
    notes = []
    if wanted := _text(files.get("requirements.txt", b"")).split():
        notes.append(f"requirements.txt is not installed; see that these are there: {', '.join(wanted[:20])}.")
    if "setup.sh" in files:
        notes.append("setup.sh is not run: what it installs must be there where you grade.")
    if "post_processor" in _text(files.get("run_tests.py", b"")):
        notes.append("run_tests.py changes results by a post_processor (late penalties?); that is not done.")
    return notes


def _text(data: bytes) -> str:
    return data.decode("utf-8-sig", "replace")
