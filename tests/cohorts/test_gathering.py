"""Files of one student come together: copied from a folder, moved from what was unpacked, no link followed."""

import os
from pathlib import Path

from tests.support.class_exports import laid_out, names
from viva.plugins.cohorts.exports.export_folder import MAX_COPIED_FILE, Gatherer


def test_folder_is_copied(tmp_path: Path) -> None:
    given = laid_out(tmp_path / "given", {"a.py": b"a", "inner/b.py": b"b", "inner/.git/config": b""})
    ours = laid_out(tmp_path / "ours", {"c.py": b"c"})
    gatherer = Gatherer(tmp_path / "work", ours)
    made = gatherer.gather("ada", [("", given), ("c.py", ours / "c.py")])
    assert names(made) == ["a.py", "c.py", "inner/b.py"]
    assert names(given) == ["a.py", "inner/.git/config", "inner/b.py"] and names(ours) == []
    assert not gatherer.unmatched


def test_links_and_pipes(tmp_path: Path) -> None:
    given = laid_out(tmp_path / "given", {"a.py": b"a", "secret": b"s"})
    (given / "link.py").symlink_to("secret")
    (given / "folder").symlink_to("/etc")
    os.mkfifo(given / "pipe")
    gatherer = Gatherer(tmp_path / "work")
    made = gatherer.gather("ada", [("", given), ("again.py", given / "link.py")])
    assert names(made) == ["a.py", "secret"]
    assert {(u.name, u.reason) for u in gatherer.unmatched} == {
        ("ada: link.py", "is a link"),
        ("ada: folder", "is a link"),
        ("ada: pipe", "is a named pipe or a device"),
    }


def test_names_are_no_paths(tmp_path: Path) -> None:
    given = laid_out(tmp_path / "given", {"a.py": b"a"})
    made = Gatherer(tmp_path / "work").gather(
        "../../eve", [("../../x.py", given / "a.py"), ("x.py", given / "a.py"), ("X.py", given / "a.py")]
    )
    assert made.parent == tmp_path / "work"
    assert names(made) == ["X~2.py", "_.._x.py", "x.py"]


def test_file_that_is_there_twice(tmp_path: Path) -> None:
    one, other = (laid_out(tmp_path / name, {"a.py": name.encode()}) for name in ("one", "other"))
    gatherer = Gatherer(tmp_path / "work")
    made = gatherer.gather("ada", [("", one), ("", other)])
    assert (made / "a.py").read_bytes() == b"one"
    assert [u.reason for u in gatherer.unmatched] == [
        "is there twice, perhaps in another spelling; the first one was taken"
    ]


def test_large_file_keeps_its_size_alone(tmp_path: Path) -> None:
    given = laid_out(tmp_path / "given", {"a.py": b"a"})
    with (given / "large").open("wb") as file:
        file.truncate(MAX_COPIED_FILE + 1)
        file.write(b"x" * 10_000)
    made = Gatherer(tmp_path / "work").gather("ada", [("", given)])
    assert (made / "large").stat().st_size == MAX_COPIED_FILE + 1 and (made / "large").stat().st_blocks == 0
