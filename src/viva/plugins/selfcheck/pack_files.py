"""Which files of a folder belong to a submission: those that the assignment names, what they import and open, results.

No link is followed, and no file is opened that is left out.
"""

import ast
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Final

from viva.config import Assignment, SubmissionFiles
from viva.model.errors import UsageError
from viva.sandbox.guest.loading.student_files import ENVIRONMENT_MARKS, is_not_the_work
from viva.submissions.decode_text import decode
from viva.submissions.file_names import CODE, is_answers_file, is_archive
from viva.submissions.notebook_cells import NotebookError, read_notebook
from viva.submissions.opening_by_descriptor import (
    Folder,
    LinkOnTheWay,
    NotOpened,
    opened_at,
    opened_folder,
    read_at_most,
)

RESULTS: Final = (".npz", ".npy", ".csv", ".tsv", ".json", ".jsonl", ".safetensors")
"""Formats of predictions, checkpoints and reports that tests can read."""
_COURSE: Final = ("graders", "assignments", "reference", "fixtures", "grader.yaml")
"""Names that belong to the course if it is in the same folder."""
_MAX_LISTED: Final = 20_000
_SECRETS: Final = (
    ".env", ".env.*", "*.env", "*.pem", "*.key", "*.p12", "*.pfx", "*.kdbx", "id_rsa*", "id_dsa*", "id_ecdsa*",
    "id_ed25519*", ".netrc", ".pgpass", ".htpasswd", ".npmrc", ".pypirc", "kaggle.json", "*credential*", "*secret*",
    "*token", "*token.*", "*apikey*", "*api_key*", "*api-key*", "*passw*", "service_account*", "*.jks", "*.keystore",
)  # fmt: skip
_SECRET_TEXT: Final = re.compile(
    rb"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----|\b(?:AKIA|ASIA)[0-9A-Z]{16}|aws_secret_access_key|\bhf_[A-Za-z0-9]{30}"
    rb"|\bsk-[A-Za-z0-9_-]{32}|\bgh[oprsu]_[A-Za-z0-9]{36}|\bgithub_pat_\w{22}|\bglpat-[\w-]{20}|\bxox[abprs]-[\w-]{10}",
    re.IGNORECASE,
)
_MAGIC: Final = re.compile(r"^\s*[%!?].*$", re.M)
_IMPORT: Final = re.compile(
    r"^[ \t]{0,40}(?:from[ \t]{1,9}([\w.]{1,200})[ \t]{1,9}import|import[ \t]{1,9}([\w., \t]{1,300}))", re.M
)
_DEFINED: Final = re.compile(r"^(?:(?:async +)?def|class) +(\w{1,80})", re.M)
Read = Callable[[str], bytes]
"""Returns the bytes of a file of the folder."""


@dataclass(slots=True)
class ChosenFiles:
    """The paths that are submitted, why others are not, and which files look like secrets."""

    paths: list[str] = field(default_factory=list)
    mains: list[str] = field(default_factory=list)
    """Those that the assignment names, or may ask for."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Path to the reason."""
    secrets: list[str] = field(default_factory=list)
    """Files that were left out because they look like secrets."""


@dataclass(frozen=True, slots=True)
class ExpectedFiles:
    """What an assignment asks for, as far as files can show it."""

    wanted: SubmissionFiles
    files: frozenset[str] = frozenset()
    """Names of the starter's files."""
    names: frozenset[str] | None = None
    """What the starter's files define; None where there is no starter, and any name may be asked for."""


def expect_files(assignment: Assignment) -> ExpectedFiles:
    """Return what an assignment asks for."""
    if not assignment.starter.is_dir():
        return ExpectedFiles(assignment.submission)
    paths = [path for path in assignment.starter.rglob("*") if path.suffix in CODE and path.is_file()]
    names = [find_definitions(_read_code(path.name, path.read_bytes())) for path in paths]
    return ExpectedFiles(assignment.submission, frozenset(path.name for path in paths), frozenset().union(*names))


def list_files(folder: Path) -> dict[str, str]:
    """Return the files below a folder, sorted, with the reason why one is not part of the work; empty if it may be.

    A folder that is left out completely is one row.
    """
    rows: dict[str, str] = {}
    pending = [""]
    while pending and len(rows) < _MAX_LISTED:
        prefix = pending.pop()
        try:
            with os.scandir(folder / prefix) as entries:
                here = sorted(entries, key=lambda entry: entry.name)  # the same files give the same archive
        except OSError:
            rows[prefix.rstrip("/")] = "cannot be read"
            continue
        names = {entry.name for entry in here}
        if prefix and (why := _reject_folder(names)):
            rows[prefix] = why
            continue
        for entry in here:
            path, why = f"{prefix}{entry.name}", _reject_entry(entry, names)
            if not why and entry.is_dir(follow_symlinks=False):
                pending.append(f"{path}/")
            else:
                rows[path] = why
    return dict(sorted(rows.items()))


def _reject_folder(names: set[str]) -> str:
    if not ENVIRONMENT_MARKS.isdisjoint(names):
        return "an environment"
    return "the course itself" if "grader.yaml" in names else ""


def _reject_entry(entry: "os.DirEntry[str]", siblings: set[str]) -> str:
    if is_not_the_work(entry.name):
        return "left behind by a tool"
    if "grader.yaml" in siblings and entry.name in _COURSE:
        return "the course itself"
    if entry.is_symlink():
        return "a link; links are not followed"
    if entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False):
        return ""
    return "no regular file"


def read_file(folder: Path, path: str, max_bytes: int) -> bytes:
    """Return the bytes of a file by its path below a folder.

    Raises:
        UsageError: it cannot be read, has become a link, or is larger than a whole submission may be.
    """
    try:
        with opened_folder(folder) as opened:
            data = _read_below(opened, path.split("/"), max_bytes)
    except (FileNotFoundError, NotOpened, LinkOnTheWay) as error:
        raise UsageError(f"{folder / path} cannot be packed: it {error}.") from None
    if data is None:
        raise UsageError(
            f"{folder / path} is larger than {max_bytes >> 20} MiB, the most that a whole submission may be: "
            "move it elsewhere, or submit a smaller one."
        )
    return data


def _read_below(folder: Folder, parts: list[str], max_bytes: int) -> bytes | None:
    with opened_at(parts[0], folder) as opened:
        if len(parts) > 1:
            return _read_below(opened.folder, parts[1:], max_bytes)
        if opened.is_folder:
            return None
        return read_at_most(opened.descriptor, max_bytes)


def choose_files(listed: dict[str, str], expected: ExpectedFiles, read: Read, only: str = "") -> ChosenFiles:
    """Choose the files.

    A module or notebook of another name is taken if it may be asked for: grading searches it for names that nothing
    else defines.

    Args:
        listed: what `list_files` returned.
        expected: what the assignment asks for.
        read: returns the bytes of a file.
        only: the one file to submit, if the student named it; what it needs is included.
    """
    chosen = ChosenFiles(left_out={path: why for path, why in listed.items() if why})
    chosen.secrets = [path for path, why in listed.items() if not why and _is_secret(path)]
    chosen.left_out |= dict.fromkeys(chosen.secrets, "looks like a secret")
    paths = [path for path in listed if path not in chosen.left_out]
    chosen.mains = [only]
    if not only:
        chosen.mains = _find_mains(paths, expected, read)
    needed = _add_imports(chosen.mains, set(paths), read)
    program = "\n".join(_read_code(path, read(path)) for path in needed)
    for path in paths:
        why = "" if path in needed else _reject_file(path, program)
        if why:
            chosen.left_out[path] = why
        else:
            chosen.paths.append(path)
    return chosen


def _find_mains(paths: Sequence[str], expected: ExpectedFiles, read: Read) -> list[str]:
    """Return the files that the assignment names, or may ask for; all code if there is none."""
    mains = [path for path in paths if expected.wanted.asks_for(path)]
    kinds: tuple[str, ...] = CODE
    if expected.wanted.notebook is None:
        kinds = (".py",)
    for path in [path for path in paths if path.endswith(kinds) and path not in mains]:
        if not mains or _may_be_asked(path, read(path), expected):
            mains.append(path)
    return mains


def _may_be_asked(path: str, data: bytes, expected: ExpectedFiles) -> bool:
    if expected.names is None or PurePosixPath(path).name in expected.files:
        return True
    return not expected.names.isdisjoint(find_definitions(_read_code(path, data)))


def holds_secret(data: bytes) -> bool:
    """Return whether the bytes contain what looks like a key: a private key, a token of a well-known service."""
    return _SECRET_TEXT.search(data) is not None


def _is_secret(path: str) -> bool:
    name = PurePosixPath(path).name.lower()
    return not name.endswith(CODE) and any(fnmatch(name, pattern) for pattern in _SECRETS)


def _reject_file(path: str, program: str) -> str:
    """Return why a file that nothing imports is not submitted; empty for answers, results, and what the program names.

    Args:
        path: the file.
        program: the text of the code that is submitted.
    """
    if is_archive(path):
        return "an archive; archives are not packed again"
    if path.endswith(".py"):
        return "not imported by your program"
    if path.endswith(".ipynb"):
        return "not a notebook that the assignment asks for"
    if is_answers_file(path) or path.lower().endswith(RESULTS) or PurePosixPath(path).name in program:
        return ""
    return "not named in your program"


def _add_imports(mains: Sequence[str], present: set[str], read: Read) -> set[str]:
    """Return the files and every module of the folder that they import, directly or indirectly."""
    needed: set[str] = set()
    pending = list(mains)
    while pending:
        path = pending.pop()
        if path in needed or path not in present:
            continue
        needed.add(path)
        folder = path[: path.rfind("/") + 1]
        for name in find_imports(_read_code(path, read(path))):
            pending += _find_modules(name, folder, present)
    return needed


def _find_modules(name: str, folder: str, present: set[str]) -> Iterator[str]:
    """Yield the files of a module `a.b`, or of the modules next to it in a package, in its folder or at the top."""
    parts = name.strip(".").split(".")
    for base in (folder, ""):
        for count in range(len(parts), 0, -1):
            start = base + "/".join(parts[:count])
            yield from {f"{start}.py", f"{start}/__init__.py"} & present
    if name.startswith("."):
        yield from (path for path in present if path.endswith(".py") and path[: path.rfind("/") + 1] == folder)


def find_definitions(text: str) -> frozenset[str]:
    """Return the functions and classes that a program defines at its top level; guess if it is not valid."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset(_DEFINED.findall(text))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return frozenset(node.name for node in body if isinstance(node, kinds))


def find_imports(text: str) -> set[str]:
    """Return the modules that a text imports, relative ones with their dots; guess them if it is not valid Python."""
    names: set[str] = set()
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        for module, modules in _IMPORT.findall(text):
            names |= {module, *(name.strip().partition(" ")[0] for name in modules.split(","))}
        return names - {""}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            start = "." * node.level + (node.module or "")
            names |= {start, *(f"{start}.{alias.name}" for alias in node.names)}
    return names


def _read_code(path: str, data: bytes) -> str:
    """Return the text of a program; of a notebook its code cells, without IPython's own lines."""
    if not path.endswith(".ipynb"):
        return decode(data)
    try:
        return "\n".join(_MAGIC.sub("", cell.source) for cell in read_notebook(data).code)
    except NotebookError:
        return ""
