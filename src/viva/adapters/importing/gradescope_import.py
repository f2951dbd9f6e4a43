"""Gradescope: `tests/test_*.py` written for gradescope-utils, with `run_tests.py` and `setup.sh` next to them."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Final

from viva.adapters.importing.bundle import below, read_bundle
from viva.adapters.importing.new_course import ImportedAssignment, folder_name
from viva.adapters.importing.student_notebook import imported, is_installed, preloads
from viva.model.errors import UsageError

_NOT_DATA: Final = ("run_tests.py", "setup.sh", "run_autograder", "requirements.txt", "README.md", "setup.py")
_HARNESS: Final = ("gradescope_utils", "unittest", "pytest")


def import_gradescope(path: Path) -> list[ImportedAssignment]:
    """Return the assignment of an autograder's folder or zip archive.

    Raises:
        UsageError: it holds no unittest suite, or it does not show what students submit.
    """
    files = read_bundle(path)
    root = _root(files)
    if root is None:
        raise UsageError(
            f"{path} holds no tests/test*.py: expected a Gradescope autograder with a suite of gradescope-utils."
        )
    files = below(files, root)
    suite = below(files, "tests")
    data = {p: d for p, d in files.items() if not p.startswith("tests/") and _is_data(p)}
    texts = {p: _text(d) for p, d in suite.items() if p.endswith(".py")}
    modules = _students_modules(texts.values(), {PurePosixPath(p).stem for p in [*suite, *data] if p.endswith(".py")})
    if not modules:
        raise UsageError(
            f"{path}: viva cannot tell which module students submit, because no test imports a missing module. "
            "Make the course by hand, as part 10 of the author guide describes."
        )
    name = folder_name(path.resolve().name.removesuffix(".zip"))
    settings = {
        "title": name,
        "suite": "unittest",
        "submission": {"notebook": None, "module": f"{modules[0]}.py"},
        "preload": preloads(texts.values()),
    }
    imported = ImportedAssignment(name, settings, {f"tests/{p}": d for p, d in suite.items()})
    imported.starter = {f"{module}.py": b"# Hand in this file.\n" for module in modules} if len(modules) > 1 else {}
    imported.add_data(data)
    imported.notes = _notes(files)
    return [imported]


def _root(files: Mapping[str, bytes]) -> str | None:
    """Return the folder that holds tests/: the given one, or the least nested one in it."""
    found = [PurePosixPath(p).parent.parent for p in files if fnmatchcase(p, "*tests/test*.py") or p == "tests"]
    own = [p for p in found if f"{p}/tests".removeprefix("./") in {str(PurePosixPath(f).parent) for f in files}]
    best = min(own, key=lambda p: (len(p.parts), str(p)), default=None)
    return None if best is None else "" if str(best) == "." else str(best)


def _is_data(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return path not in _NOT_DATA and parts[0] not in ("submission", "results") and not path.endswith((".sh", ".md"))


def _students_modules(texts: Iterable[str], beside: set[str]) -> list[str]:
    """Return modules that tests import and that neither belong to the author nor are installed, most frequent first."""
    counted: dict[str, int] = {}
    for text in texts:
        for module in {name.partition(".")[0] for name in imported(text)}:
            if module not in beside and module not in _HARNESS and not is_installed(module):
                counted[module] = counted.get(module, 0) + 1
    return sorted(counted, key=lambda module: (-counted[module], module))


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
