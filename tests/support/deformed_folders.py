"""How files are written, named, put into folders and packed."""

import ast
from collections.abc import Callable

from tests.support.deformations import deformation
from tests.support.editable_submission import Files, HandIn, zipped

TEXTS = (".py", ".yaml", ".yml")


def _of_texts(work: HandIn, change: Callable[[bytes], bytes]) -> HandIn:
    """Every text file changed."""
    return work.having({name: change(data) for name, data in work.files.items() if name.endswith(TEXTS)})


@deformation
def windows_line_ends(work: HandIn) -> HandIn:
    """Windows line ends and a byte order mark."""
    return _of_texts(work, lambda data: b"\xef\xbb\xbf" + data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))


@deformation
def utf_16(work: HandIn) -> HandIn:
    """Texts in what Notepad calls Unicode."""
    return _of_texts(work, lambda data: data.decode("utf-8").encode("utf-16"))


@deformation
def latin_1_comment(work: HandIn) -> HandIn | None:
    """An old editor wrote the student's name in its own encoding."""
    if work.is_notebook:
        return None
    return _of_texts(work, lambda data: "# Zoé Müller\n".encode("latin-1") + data)


@deformation
def tabs(work: HandIn) -> HandIn | None:
    """Indented by tabs."""

    def tabbed(data: bytes) -> bytes:
        lines = []
        for line in data.decode("utf-8").split("\n"):
            width = len(line) - len(line.lstrip(" "))
            lines.append("\t" * (width // 4) + " " * (width % 4) + line.lstrip(" "))
        return "\n".join(lines).encode("utf-8")

    changed = work.having({main: tabbed(work.files[main]) for main in work.mains if main.endswith(".py")})
    try:
        same = all(ast.dump(ast.parse(work.files[m])) == ast.dump(ast.parse(changed.files[m])) for m in work.mains)
    except SyntaxError:
        return None
    return changed if same else None


@deformation
def downloaded_twice(work: HandIn) -> HandIn | None:
    """The browser has put a number behind the name of the file."""
    if len(work.mains) != 1 or len([name for name in work.files if name.endswith(".py")]) > 1:
        return None
    [main] = work.mains
    stem, _, ending = main.rpartition(".")
    name = f"{stem} (2).{ending}"
    return _renamed(work, {main: name})


def _renamed(work: HandIn, names: dict[str, str]) -> HandIn:
    files = {names.get(path, path): data for path, data in work.files.items()}
    return HandIn(files, tuple(names.get(main, main) for main in work.mains), work.torch)


@deformation
def in_folders(work: HandIn) -> HandIn:
    """Folders within folders, and what macOS, Jupyter and editors leave next to the work."""
    names = {path: f"hw1/Final version (übung)/{path}" for path in work.files}
    moved = _renamed(work, names)
    old = b"raise RuntimeError('this is an old version')\n"
    [main, *_] = work.mains
    base = main.rsplit("/", 1)[-1]
    litter: Files = {
        f"__MACOSX/hw1/._{base}": b"\0\5\26\7\0\2\0\0Mac OS X        ",
        "hw1/.DS_Store": b"\0\0\0\1Bud1\0",
        f"hw1/.ipynb_checkpoints/{base.replace('.', '-checkpoint.')}": old,
        "hw1/__pycache__/solution.cpython-311.pyc": b"\xa7\r\r\n",
        "hw1/.vscode/settings.json": b"{}",
        "hw1/.git/HEAD": b"ref: refs/heads/main\n",
        "hw1/venv/pyvenv.cfg": b"home = /usr/bin\n",
        f"hw1/venv/{base}": old,
    }
    return moved.having(litter)


@deformation
def packed(work: HandIn) -> HandIn:
    """One archive, with a folder in it."""
    return HandIn({"submission.zip": zipped({f"hw1/{n}": d for n, d in work.files.items()})}, work.mains, work.torch)


@deformation
def packed_twice(work: HandIn) -> HandIn:
    """An archive in an archive: the course's system packs what the student has packed."""
    inner = zipped({f"hw1/{n}": d for n, d in work.files.items()})
    litter = {"__MACOSX/._hw1.zip": b"\0\5\26\7"}
    return HandIn({"12345_hw1.zip": zipped({"Ada Lovelace_12345/hw1.zip": inner, **litter})}, work.mains, work.torch)


@deformation
def large_document(work: HandIn) -> HandIn:
    """A scanned report of many pages lies next to the code, with a picture and a README."""
    page = b"%PDF-1.7\n" + bytes(range(256)) * (8 << 12)
    return work.having({"report.pdf": page, "figures/loss.png": b"\x89PNG\r\n\x1a\n", "README.md": b"# HW1\n"})


@deformation
def old_copies(work: HandIn) -> HandIn | None:
    """Old versions of the module lie next to it."""
    if work.is_notebook or not any(main.endswith("solution.py") for main in work.mains):
        return None
    old = "\n".join(f"def {name}(*args):\n    return None" for name in ("bleu", "attention", "train")).encode()
    return work.having(
        {"solution_old.py": old, "solution-Copy1.py": old, "test.py": b"import solution\nassert False\n"}
    )
