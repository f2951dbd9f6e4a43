"""What the paths of a command line mean: one submission, several, or a class."""

from pathlib import Path

import pytest

from viva.model.errors import UsageError
from viva.submissions import discover


def touch(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            (root / name).mkdir(exist_ok=True)
        else:
            (root / name).write_bytes(b"x")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        # one student's folder
        (["solution.py", "data/x.csv"], ["."]),
        (["hw.ipynb"], ["."]),
        (["answers.yaml", "pictures/a.png"], ["."]),
        (["src/solution.py"], ["."]),
        (["src/solution.py", "data/x.csv"], ["."]),
        (["hw.zip"], ["."]),
        ([], ["."]),
        (["report.pdf"], ["."]),
        # a class
        (["bob/hw.ipynb", "alice/solution.py"], ["alice", "bob"]),
        (["bob.zip", "alice.tar.gz"], ["alice.tar.gz", "bob.zip"]),
        (["bob.zip", "alice/solution.py"], ["alice", "bob.zip"]),
        (["bob/src/solution.py", "alice/hw.zip"], ["alice", "bob"]),
        (["alice/a.py", "bob/b.py", "carol/"], ["alice", "bob", "carol"]),
        (["alice/a.py", "bob/b.py", "roster.csv", "README.md", ".git/config", "__pycache__/x.pyc"], ["alice", "bob"]),
    ],
)
def test_folder_is_one_submission_or_a_class(tmp_path: Path, files: list[str], expected: list[str]) -> None:
    touch(tmp_path, *files)
    assert discover([tmp_path]) == [tmp_path / name for name in expected]


def test_link_in_a_class(tmp_path: Path) -> None:
    touch(tmp_path, "alice/a.py", "bob/b.py")
    (tmp_path / "mallory").symlink_to("alice")
    assert discover([tmp_path]) == [tmp_path / "alice", tmp_path / "bob", tmp_path / "mallory"]


def test_link_does_not_make_a_class(tmp_path: Path) -> None:
    touch(tmp_path, "only/a.py")
    (tmp_path / "code.py").symlink_to("only/a.py")
    assert discover([tmp_path]) == [tmp_path]


def test_each_once_in_order(tmp_path: Path) -> None:
    touch(tmp_path, "class/bob/b.py", "class/alice/a.py", "other.py")
    named = [tmp_path / "other.py", tmp_path / "class" / "bob", tmp_path / "class"]
    assert discover(named) == [tmp_path / "other.py", tmp_path / "class" / "bob", tmp_path / "class" / "alice"]


def test_nothing_there(tmp_path: Path) -> None:
    touch(tmp_path, "alice/a.py")
    with pytest.raises(UsageError, match=r"alicee: no such file or folder; did you mean .*/alice\?"):
        discover([tmp_path / "alicee"])
