"""Which files are the work, and the archive of them: the same bytes each time, opened by intake as they were."""

import dataclasses
import io
import os
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.words_course import RIGHT, notebook, write_course
from viva.config import Assignment, SubmissionFiles, load_course
from viva.model import File
from viva.model.errors import UsageError
from viva.plugins.selfcheck.pack_archive import build_archive, inspect_files
from viva.plugins.selfcheck.pack_files import (
    ChosenFiles,
    ExpectedFiles,
    choose_files,
    find_definitions,
    find_imports,
    holds_secret,
    list_files,
    read_file,
)

TOTAL = ExpectedFiles(SubmissionFiles(), names=frozenset({"total"}))


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def chosen(folder: Path, only: str = "", asked: ExpectedFiles = TOTAL) -> ChosenFiles:
    return choose_files(list_files(folder), asked, lambda path: (folder / path).read_bytes(), only)


def test_imported_modules_are_packed(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "solution.py": "import helper\nfrom nets import attention\nimport numpy\n",
            "helper.py": "def f():\n    from deep.er import g\n",
            "nets/__init__.py": "from .basic import *\n",
            "nets/attention.py": "from . import masks\n",
            "nets/masks.py": "",
            "nets/basic.py": "",
            "deep/er.py": "import helper\n",
            "scratch.py": "",
            "numpy/notes.txt": "",
        },
    )
    found = chosen(tmp_path)
    nets = [f"nets/{name}.py" for name in ("__init__", "attention", "basic", "masks")]
    assert found.paths == ["deep/er.py", "helper.py", *nets, "solution.py"]
    assert found.left_out == {
        "scratch.py": "not imported by your program",
        "numpy/notes.txt": "not named in your program",
    }


def test_notebook_with_magics(tmp_path: Path) -> None:
    cells = notebook(
        "%matplotlib inline\n!pip install x\nimport helper", "words = open('words.txt').read()", "broken ("
    )
    write(tmp_path, **{"work.ipynb": cells, "helper.py": "", "words.txt": "", "other.txt": "", "answers.yaml": ""})
    write(tmp_path, **{"predictions.csv": "", "model.safetensors": "", "model.pt": "", "old.zip": ""})
    found = chosen(tmp_path)
    assert found.paths == [
        "answers.yaml", "helper.py", "model.safetensors", "predictions.csv", "words.txt", "work.ipynb",
    ]  # fmt: skip
    assert found.left_out["old.zip"].startswith("an archive")


def test_tools_and_course_are_not_packed(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "solution.py": "",
            ".git/config": "",
            "__pycache__/a.pyc": "",
            "env/pyvenv.cfg": "",
            "env/lib/x.py": "",
            "grader.yaml": "",
            "graders/a/key.py": "",
            "assignments/a/solution.py": "",
            "another/grader.yaml": "",
            "another/graders/key.json": "",
        },
    )
    (tmp_path / "passwords.csv").symlink_to("/etc/passwd")
    found = chosen(tmp_path)
    assert found.paths == ["solution.py"]
    assert found.left_out == {
        ".git": "left behind by a tool",
        "__pycache__": "left behind by a tool",
        "another/": "the course itself",
        "assignments": "the course itself",
        "env/": "an environment",
        "grader.yaml": "the course itself",
        "graders": "the course itself",
        "passwords.csv": "a link; links are not followed",
    }


SECRETS = (
    ".env .env.local server.pem id_rsa id_ed25519.pub kaggle.json my_secret.csv API_KEY.json aws_credentials.txt "
    "hf_token GitHub-Token.yaml passwd.json"
)


@pytest.mark.parametrize("name", SECRETS.split())
def test_secrets_are_left_out(tmp_path: Path, name: str) -> None:
    write(tmp_path, **{"solution.py": f"open({name!r})", name: "x"})
    found = chosen(tmp_path)
    assert (
        found.paths == ["solution.py"] and found.secrets == [name] and found.left_out == {name: "looks like a secret"}
    )


def test_key_in_file_is_seen() -> None:
    assert holds_secret(b"x\n-----BEGIN OPENSSH PRIVATE KEY-----\n") and holds_secret(
        b"token = 'hf_" + b"a" * 30 + b"'"
    )
    assert not holds_secret(b"def task-sk(): self.half_half = 'AKIA'")


def test_one_file_brings_what_it_needs(tmp_path: Path) -> None:
    write(
        tmp_path, **{"a.ipynb": notebook("import one"), "b.ipynb": notebook("import two"), "one.py": "", "two.py": ""}
    )
    assert chosen(tmp_path, "a.ipynb").paths == ["a.ipynb", "one.py"]
    assert chosen(tmp_path).paths == ["a.ipynb", "b.ipynb", "one.py", "two.py"]


def test_imports_of_what_is_no_python() -> None:
    assert find_imports("import a.b, c as d\nfrom ..e import f") == {"a.b", "c", "..e", "..e.f"}
    assert find_imports("broken (\nimport a, b\n  from c.d import e\n") >= {"a", "b", "c.d"}
    assert find_imports("import a\0") >= {"a"} and find_imports("(" * 5000) == set()


def test_module_that_nothing_imports(tmp_path: Path) -> None:
    """Grading looks into it for a name that nothing else defines: left out, a right answer would lose its points."""
    write(
        tmp_path, **{"solution.py": "", "more.py": "def total(): ...\n", "starter.py": "", "tries.py": "def x(): ...\n"}
    )
    asked = ExpectedFiles(SubmissionFiles(), frozenset({"starter.py"}), frozenset({"total"}))
    assert chosen(tmp_path, asked=asked).paths == ["more.py", "solution.py", "starter.py"]
    assert chosen(tmp_path, asked=ExpectedFiles(SubmissionFiles())).paths == [
        "more.py",
        "solution.py",
        "starter.py",
        "tries.py",
    ]


def test_solved_notebook_of_other_name(tmp_path: Path) -> None:
    """Besides the untouched starter it is the answer: without it, nothing would be."""
    files = {
        "work.py": "def total(): ...\n",
        "hw1 (1).ipynb": notebook("%matplotlib inline", "def total():\n    return 1"),
        "notes.ipynb": notebook("x = 1"),
    }
    write(tmp_path, **files)
    asked = ExpectedFiles(SubmissionFiles("hw1.ipynb", "work.py"), frozenset({"work.py"}), frozenset({"total"}))
    assert chosen(tmp_path, asked=asked).paths == ["hw1 (1).ipynb", "work.py"]
    modules = ExpectedFiles(SubmissionFiles(None, "work.py"), frozenset({"work.py"}), frozenset({"total"}))
    assert chosen(tmp_path, asked=modules).paths == ["work.py"]


def test_names_that_a_program_defines() -> None:
    assert find_definitions("def a(): ...\nclass B:\n    def c(self): ...\nasync def d(): ...\nx = 1") == {
        "a",
        "B",
        "d",
    }
    assert find_definitions("def a(: broken\nclass B:\n    def c(self): ...") == {"a", "B"}


names = st.text("abcä_ .", min_size=1, max_size=8).filter(lambda n: n.strip(". ") and "/" not in n)


@given(st.dictionaries(names, st.binary(max_size=200), min_size=1, max_size=5), st.randoms())
def test_packing_round_trip(files: dict[str, bytes], order: object) -> None:
    handed = [File(name, data) for name, data in files.items()]
    packed = build_archive(handed)
    assert build_archive(handed[::-1]) == packed
    with zipfile.ZipFile(io.BytesIO(packed)) as opened:
        assert {name: opened.read(name) for name in opened.namelist()} == files
        assert opened.namelist() == sorted(files)
        assert {entry.date_time for entry in opened.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_times_and_permissions_are_ignored(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    first = build_archive([File("a.py", read_file(tmp_path, "a.py", 99))])
    os.utime(tmp_path / "a.py", ns=(1, 1))
    (tmp_path / "a.py").chmod(0o600)
    assert build_archive([File("a.py", read_file(tmp_path, "a.py", 99))]) == first


def test_links_and_large_files(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/a.py").write_text("x" * 100)
    (tmp_path / "link").symlink_to("real")
    assert read_file(tmp_path, "real/a.py", 100) == b"x" * 100
    with pytest.raises(UsageError, match="is a link"):
        read_file(tmp_path, "link/a.py", 100)
    with pytest.raises(UsageError, match="larger than 0 MiB"):
        read_file(tmp_path, "real/a.py", 99)


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    course = write_course(tmp_path / "course")
    starter = course / "assignments/words/starter"
    starter.mkdir()
    (starter / "solution.py").write_text("def total(): ...\n")
    (starter / "work.ipynb").write_text('{"cells": [{"cell_type": "code", "source": "x = 1", "outputs": []}]}')
    return load_course(course).assignment("words")


def test_what_the_bytes_say(assignment: Assignment) -> None:
    assert inspect_files([File("solution.py", RIGHT.encode())], assignment) == []
    assert inspect_files([File("solution.py", b"def total(): ...\n")], assignment) == [
        "solution.py is still the starter."
    ]
    run = b'{"cells": [{"cell_type": "code", "source": ["x = 1"], "outputs": [{"text": "1"}], "execution_count": 3}]}'
    assert inspect_files([File("my.ipynb", run)], assignment) == ["my.ipynb is still the starter."]
    (missing,) = inspect_files([File("work.py", b"x")], assignment)
    assert missing == "The assignment asks for solution.py or *.ipynb, and there is no such file."
    (secret,) = inspect_files([File("solution.py", b"k = '-----BEGIN PRIVATE KEY-----'")], assignment)
    assert "solution.py holds what looks like a secret key" in secret
    tight = dataclasses.replace(assignment, limits=dataclasses.replace(assignment.limits, disk_mib=1))
    (large,) = inspect_files([File("solution.py", b"x"), File("a.npy", bytes(2 << 20))], tight)
    assert "1 MiB is the most" in large
