"""Which files belong to a submission: those that the assignment names, what they import and open, answers, results."""

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import PurePosixPath
from typing import Final

from viva.config import Assignment, SubmissionFiles
from viva.plugins.selfcheck.packing.pack_listing import ListedFile
from viva.submissions.decode_text import decode
from viva.submissions.file_names import CODE, is_answers_file, is_archive
from viva.submissions.notebook_cells import NotebookError, read_notebook

HANDED_IN: Final = (".npz", ".npy", ".csv", ".tsv", ".json", ".jsonl", ".safetensors")
"""Formats of predictions, checkpoints and reports that tests can read."""
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


def expected_files(assignment: Assignment) -> ExpectedFiles:
    """Return what an assignment asks for."""
    if not assignment.starter.is_dir():
        return ExpectedFiles(assignment.submission)
    paths = [path for path in assignment.starter.rglob("*") if path.suffix in CODE and path.is_file()]
    names = [defined(_code(path.name, path.read_bytes())) for path in paths]
    return ExpectedFiles(assignment.submission, frozenset(path.name for path in paths), frozenset().union(*names))


def choose(
    found: Sequence[ListedFile], asked: ExpectedFiles, read: Callable[[str], bytes], only: str = ""
) -> ChosenFiles:
    """Choose the files.

    A module or notebook of another name is taken if it may be asked for: grading searches it for names that nothing
    else defines.

    Args:
        found: the files of the folder.
        asked: what the assignment asks for.
        read: returns the bytes of a file.
        only: the one file to submit, if the student named it; what it needs is included.
    """
    chosen = ChosenFiles(left_out={file.path: file.why_not for file in found if file.why_not})
    files = {file.path: file for file in found if not file.why_not}
    for path, file in files.items():
        if _is_secret(file.name):
            chosen.secrets.append(path)
            chosen.left_out[path] = "looks like a secret"
    open_files = [path for path in files if path not in chosen.left_out]
    chosen.mains = [only] if only else [path for path in open_files if asked.wanted.asks_for(path)]
    if not only:
        kinds = CODE if asked.wanted.notebook is not None else ".py"
        siblings = [path for path in open_files if path.endswith(kinds) and path not in chosen.mains]
        chosen.mains += [path for path in siblings if not chosen.mains or _may_be_asked(path, read(path), asked)]
    needed = _with_imports(chosen.mains, set(open_files), read)
    texts = "\n".join(_code(path, read(path)) for path in needed)
    for path in open_files:
        if path in needed or is_answers_file(path) or _belongs(path, texts):
            chosen.paths.append(path)
        else:
            chosen.left_out[path] = _why_not(path)
    return chosen


def holds_secret(data: bytes) -> bool:
    """Return whether the bytes contain what looks like a key: a private key, a token of a well-known service."""
    return _SECRET_TEXT.search(data) is not None


def _may_be_asked(path: str, data: bytes, asked: ExpectedFiles) -> bool:
    if asked.names is None or PurePosixPath(path).name in asked.files:
        return True
    return not asked.names.isdisjoint(defined(_code(path, data)))


def defined(text: str) -> frozenset[str]:
    """Return the functions and classes that a program defines at its top level."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset(_DEFINED.findall(text))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return frozenset(node.name for node in body if isinstance(node, kinds))


def _is_secret(name: str) -> bool:
    if name.endswith(CODE):
        return False
    return any(fnmatch(name.lower(), pattern) for pattern in _SECRETS)


def _belongs(path: str, texts: str) -> bool:
    """Return whether the file is a result in a format that is graded, or its name occurs in the program."""
    name = PurePosixPath(path).name
    if path.endswith(CODE) or is_archive(path):
        return False
    return path.lower().endswith(HANDED_IN) or name in texts


def _why_not(path: str) -> str:
    if is_archive(path):
        return "an archive; archives are not packed again"
    if path.endswith(".py"):
        return "not imported by your program"
    if path.endswith(".ipynb"):
        return "not a notebook that the assignment asks for"
    return "not named in your program"


def _with_imports(mains: Sequence[str], present: set[str], read: Callable[[str], bytes]) -> set[str]:
    """Return the files and every module of the folder that they import, directly or indirectly."""
    needed: set[str] = set()
    pending = list(mains)
    while pending:
        path = pending.pop()
        if path in needed or path not in present:
            continue
        needed.add(path)
        folder = str(PurePosixPath(path).parent)
        for name in imports(_code(path, read(path))):
            pending += _files_of(name, "" if folder == "." else f"{folder}/", present)
    return needed


def _files_of(name: str, folder: str, present: set[str]) -> list[str]:
    """Return the files of a module `a.b`, or of the modules next to it in a package, in its folder or at the top."""
    parts = name.strip(".").split(".") if name.strip(".") else []
    found: list[str] = []
    for base in dict.fromkeys((folder, "")):
        for count in range(len(parts), 0, -1):
            at = base + "/".join(parts[:count])
            found += [path for path in (f"{at}.py", f"{at}/__init__.py") if path in present]
    if name.startswith("."):
        siblings = (path for path in present if path.startswith(folder) and path.endswith(".py"))
        found += [path for path in siblings if "/" not in path[len(folder) :]]
    return found


def imports(text: str) -> set[str]:
    """Return the modules that a text imports, relative ones with their dots; guess them if it is not valid Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        found = _IMPORT.findall(text)
        return {name.strip().split(" ")[0] for one, many in found for name in [one, *many.split(",")] if name.strip()}
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            start = "." * node.level + (node.module or "")
            names |= {start, *(f"{start}.{alias.name}" for alias in node.names if node.level or node.module)}
    return names


def _code(path: str, data: bytes) -> str:
    """Return the text of a program; of a notebook its code cells, without IPython's own lines."""
    if not path.endswith(".ipynb"):
        return decode(data)
    try:
        return "\n".join(_MAGIC.sub("", cell.source) for cell in read_notebook(data).code)
    except NotebookError:
        return ""
