"""The archive and what is said of it: the same bytes each time, opened by intake as they were."""

import dataclasses
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.words_course import RIGHT, write_course
from viva.config import Assignment, load_course
from viva.model import File
from viva.model.errors import UsageError
from viva.selfcheck.packing.findings import before_running
from viva.selfcheck.packing.pack_archive import Folder, archive

names = st.text("abcä_ .", min_size=1, max_size=8).filter(lambda n: n.strip(". ") and "/" not in n)


@given(st.dictionaries(names, st.binary(max_size=200), min_size=1, max_size=5), st.randoms())
def test_a_round_trip_and_the_same_bytes_in_any_order(files: dict[str, bytes], order: object) -> None:
    import io
    import zipfile

    handed = [File(name, data) for name, data in files.items()]
    packed = archive(handed)
    assert archive(handed[::-1]) == packed
    with zipfile.ZipFile(io.BytesIO(packed)) as opened:
        assert {name: opened.read(name) for name in opened.namelist()} == files
        assert opened.namelist() == sorted(files)
        assert {entry.date_time for entry in opened.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_times_and_permissions_of_files_make_no_difference(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    first = archive([File("a.py", Folder(tmp_path, 99).read("a.py"))])
    os.utime(tmp_path / "a.py", ns=(1, 1))
    (tmp_path / "a.py").chmod(0o600)
    assert archive([File("a.py", Folder(tmp_path, 99).read("a.py"))]) == first


def test_no_link_is_followed_and_nothing_too_large_is_read(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/a.py").write_text("x" * 100)
    (tmp_path / "link").symlink_to("real")
    assert Folder(tmp_path, 100).read("real/a.py") == b"x" * 100
    with pytest.raises(UsageError, match="is a link"):
        Folder(tmp_path, 100).read("link/a.py")
    with pytest.raises(UsageError, match="larger than 0 MiB"):
        Folder(tmp_path, 99).read("real/a.py")


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    course = write_course(tmp_path / "course")
    starter = course / "assignments/words/starter"
    starter.mkdir()
    (starter / "solution.py").write_text("def total(): ...\n")
    (starter / "work.ipynb").write_text('{"cells": [{"cell_type": "code", "source": "x = 1", "outputs": []}]}')
    return load_course(course).assignment("words")


def test_what_the_bytes_say(assignment: Assignment) -> None:
    assert before_running([File("solution.py", RIGHT.encode())], assignment) == []
    assert before_running([File("solution.py", b"def total(): ...\n")], assignment) == [
        "solution.py is still the starter."
    ]
    run = b'{"cells": [{"cell_type": "code", "source": ["x = 1"], "outputs": [{"text": "1"}], "execution_count": 3}]}'
    assert before_running([File("my.ipynb", run)], assignment) == ["my.ipynb is still the starter."]
    (missing,) = before_running([File("work.py", b"x")], assignment)
    assert missing == "The assignment asks for solution.py or *.ipynb, and there is no such file."
    (secret,) = before_running([File("solution.py", b"k = '-----BEGIN PRIVATE KEY-----'")], assignment)
    assert "solution.py holds what looks like a secret key" in secret
    tight = dataclasses.replace(assignment, limits=dataclasses.replace(assignment.limits, disk_mib=1))
    (large,) = before_running([File("solution.py", b"x"), File("a.npy", bytes(2 << 20))], tight)
    assert "1 MiB is the most" in large
