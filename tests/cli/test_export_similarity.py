"""`viva export --to similarity`: the code of a cohort in folders, and the commands of the tools that compare it."""

import shlex
from pathlib import Path

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import RIGHT, SETTINGS_FILE, cell, hand_in, hand_in_notebook, notebook

STARTER = "def word_counts(text):\n    ...\n"


@pytest.fixture
def cohort(own_course: Path, tmp_path: Path) -> Path:
    """Ada submits a notebook, Bob modules in two folders; both began with the starter."""
    starter = (own_course / SETTINGS_FILE).with_name("starter")
    hand_in(starter, STARTER)
    (starter / "words.ipynb").write_text(notebook(STARTER), "utf-8")
    (starter / "answers.yaml").write_text('"2.1":\n')
    folder = tmp_path / "cohort"
    hand_in_notebook(
        folder / "ada", "%matplotlib inline\nx = 1", cell("Some *prose*.", "markdown"), "!pip install y\nprint(x)"
    )
    hand_in(folder / "bob")
    hand_in(folder / "bob" / "parts", "y = 'é'\n")
    (folder / "bob" / "parts_solution.py").write_bytes("y = 'é'\n".encode("cp1252"))
    return folder


def files_below(folder: str) -> dict[str, str]:
    root = Path(folder)
    return {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in root.rglob("*") if path.is_file()}


def test_folders(viva: Viva, cohort: Path) -> None:
    ran = viva("export", cohort, "--to", "similarity", "--assignment", "words", "-o", "out")
    assert (ran.status, ran.err) == (0, "")
    files = files_below("out")
    assert files.pop("submissions/ada/work.py") == "\nx = 1\n\n\nprint(x)", "no magics, no prose"
    assert files == {
        "submissions/bob/solution.py": RIGHT,
        "submissions/bob/parts_solution.py": "y = 'é'\n",
        "submissions/bob/parts_solution~2.py": "y = 'é'\n",
        "starter/solution.py": STARTER,
        "starter/words.py": STARTER,
    }


def test_commands(viva: Viva, cohort: Path) -> None:
    """Each command finds every student once, and the starter; also where a shell would split the path."""
    out = "a b"
    lines = viva("export", cohort, "--to", "similarity", "-o", out).out.splitlines()
    compare50, jplag, moss = map(shlex.split, lines)
    assert compare50 == ["compare50", f"{out}/submissions/*", "-o", f"{out}/compare50", "-d", f"{out}/starter"]
    assert jplag == ["java", "-jar", "jplag.jar", "-l", "python3", f"{out}/submissions", "-bc", f"{out}/starter"]
    base = ["-b", f"{out}/starter/solution.py", "-b", f"{out}/starter/words.py"]
    assert moss == ["moss", "-l", "python", "-d", *base, f"{out}/submissions/*/*.py"]
    assert lines[2].endswith("'/*/*.py"), "MOSS expands no pattern, so the shell has to"
    assert {path.parent.name for path in Path().glob(moss[-1])} == {"ada", "bob"}


def test_no_starter(viva: Viva, cohort: Path, course: Path) -> None:
    ran = viva("export", cohort, "--to", "similarity", "--course", course, "-o", "out")
    assert ran.status == 0 and "starter" not in ran.out and not Path("out/starter").exists()


def test_last_attempt(viva: Viva, own_course: Path) -> None:
    """Attempts of one student would resemble each other most of all; the eleventh follows the second by name."""
    for day in range(1, 12):
        hand_in(Path(f"export/777-12345 - Ada Lovelace - Oct {day}, 2026 1107 AM"), f"day = {day}\n")
    hand_in(Path("export/778-12345 - Bob Byte - Oct 5, 2026 1107 AM"))
    assert viva("export", "export", "--to", "similarity", "-o", "out").status == 0
    (ada,) = [text for path, text in files_below("out").items() if "Ada" in path]
    assert ada == "day = 11\n" and len(files_below("out")) == 2


def test_left_out(viva: Viva, cohort: Path) -> None:
    (cohort / "ada" / "work.ipynb").write_text('{"cells": [')
    (cohort / "bob" / "broken.ipynb").write_text("<html>")
    (cohort / "eve").mkdir()
    (cohort / "eve" / "all.zip").write_bytes(b"PK")
    (cohort / "fay").mkdir()
    ran = viva("export", cohort, "--to", "similarity", "-o", "out")
    assert ran.status == 1 and {path.name for path in Path("out/submissions").iterdir()} == {"bob"}
    reasons = dict(line.removeprefix("viva: left out: ").split(": ", 1) for line in ran.err.splitlines())
    assert list(reasons) == ["ada", "bob", "eve", "fay"]
    assert reasons["ada"].startswith("work.ipynb: the notebook breaks off")
    assert "web page" in reasons["bob"] and "archives" in reasons["eve"] and "empty" in reasons["fay"]


def test_existing_folder(viva: Viva, cohort: Path) -> None:
    Path("out").mkdir()
    assert viva("export", cohort, "--to", "similarity", "-o", "out").status == 0
    before = files_below("out")
    for out in ("out", "out/starter/solution.py"):
        ran = viva("export", cohort, "--to", "similarity", "-o", out)
        assert ran.status == 1 and f"{out} is not empty" in ran.sentence()
    assert files_below("out") == before


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["cohort"], "takes one class and a new folder"),
        (["cohort", "-o", "out", "-a", "nosuch"], "lists no assignment `nosuch`"),
        (["cohort/bob/solution.py", "-o", "out"], "cohort/bob/solution.py"),
    ],
)
def test_wrong_command(viva: Viva, cohort: Path, arguments: list[str], sentence: str) -> None:
    ran = viva("export", *arguments, "--to", "similarity")
    assert ran.status == 1 and sentence in ran.sentence()
    assert not Path("out").exists() and ran.out == ""
