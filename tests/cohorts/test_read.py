"""`read_class`: folders and archives of every kind give the same class; what surrounds them does not matter."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support import class_exports as exports
from tests.support.class_exports import CODE, Read, laid_out, names, tarred, zipped
from viva.model.errors import UsageError
from viva.plugins.cohorts.exports.read_class import read_class
from viva.submissions import open_submission
from viva.submissions.class_export import ClassExport
from viva.submissions.safe_names import normalize_component


def told(found: ClassExport) -> object:
    """Everything but where it lies."""
    attempts = [
        (d.name, d.students, d.submitted_at, d.late, d.number, d.team, d.source, d.also) for d in found.attempts
    ]
    contents = [
        [n for n in names(d.path) if ".git" not in n] if d.path.is_dir() else d.path.read_bytes()
        for d in found.attempts
    ]
    return attempts, contents, set(found.unmatched), found.missing, found.source


@pytest.mark.parametrize("name", list(exports.EXPORTS))
def test_zip_tar_and_folder(tmp_path: Path, name: str) -> None:
    files, stem = exports.EXPORTS[name], name.split(".")[0]
    paths = [
        laid_out(tmp_path / "a" / stem, files),
        zipped(tmp_path / "b" / f"{stem}.zip", files),
        tarred(tmp_path / "c" / f"{stem}.tar.gz", files),
        laid_out(tmp_path / "d" / stem, {f"downloads/{n}": data for n, data in files.items()}),
    ]
    read = [told(read_class(path, roster=None, into=tmp_path / "into")) for path in paths]
    assert read[0] == read[1] == read[2] == read[3]
    assert read_class(paths[0], roster=None, into=tmp_path / "into").attempts


@pytest.mark.parametrize("name", list(exports.EXPORTS))
def test_every_attempt_can_be_opened(tmp_path: Path, name: str) -> None:
    archive = zipped(tmp_path / "class.zip", exports.EXPORTS[name])
    for attempt in read_class(archive, roster=None, into=tmp_path / "into").attempts:
        assert open_submission(attempt.path, attempt.name).files


def test_everybody_is_there_or_missing(read: Read) -> None:
    for files, roster in ((exports.CANVAS, exports.CANVAS_GRADEBOOK), (exports.MOODLE, exports.MOODLE_WORKSHEET)):
        found = read(files, roster=roster, folder=roster[:6])
        present = {student.id for attempt in found.attempts for student in attempt.students}
        missing = {student.id for student in found.missing}
        assert {student.id for student in found.roster} <= present | missing and not present & missing


def test_roster_beside_the_submissions(tmp_path: Path) -> None:
    folder = laid_out(tmp_path / "class", exports.FOLDERS)
    found = read_class(folder, roster=folder / "roster.csv", into=tmp_path / "into")
    assert not [u for u in found.unmatched if u.name == "roster.csv"]
    assert [s.name for d in found.attempts for s in d.students if s.id == "ada"] == ["Ada Lovelace"]


def test_file_beside_the_folder(read: Read) -> None:
    found = read({"export/ada/x.py": CODE, "export/bo/x.py": CODE, "readme.txt": b""})
    assert [(u.name, u.reason) for u in found.unmatched] == [("readme.txt", "is next to the submissions")]


def test_names_that_differ_only_in_case(read: Read) -> None:
    found = read({f"{who}/x.py": CODE for who in ("Ada", "ada", "Zoë", "Zoe\u0308", "con", "a b", "nul.txt")})
    made = [d.name for d in found.attempts]
    assert len({normalize_component(n) for n in made}) == 7 and {"Ada", "ada~2", "_con", "_nul.txt"} <= set(made)


def test_refused_members(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "class.zip", {"ada/x.py": CODE, "bo/x.py": CODE, "../../eve/x.py": CODE})
    found = read_class(archive, roster=None, into=tmp_path / "into")
    assert [d.name for d in found.attempts] == ["ada", "bo"]
    assert [u.reason for u in found.unmatched] == ["would be written outside the class's folder"]


def test_names_can_be_shown(read: Read) -> None:
    found = read({"ada/x.py": CODE, "bo/x.py": CODE, "e\x1b[2Jv\u202ee.txt": b"", os.fsdecode(b"\xff.txt"): b""})
    assert all(c.isprintable() for u in found.unmatched for c in u.name)
    assert len(found.unmatched) == 2


def test_folder_for_unpacking_is_private(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "class.zip", exports.FOLDERS)
    read_class(archive, roster=None, into=tmp_path / "into")
    assert stat.S_IMODE((tmp_path / "into").stat().st_mode) == 0o700
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o755)
    with pytest.raises(UsageError, match=r"open is not private; give a folder of your own"):
        read_class(archive, roster=None, into=tmp_path / "open")
    (tmp_path / "link").symlink_to("into")
    with pytest.raises(UsageError, match="is not private"):
        read_class(archive, roster=None, into=tmp_path / "link")


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "class.zip", {"notes.txt": b""})
    with pytest.raises(UsageError, match="is not a class in a known format"):
        read_class(archive, roster=None, into=tmp_path / "into")
    assert not list((tmp_path / "into").iterdir())


def test_wrong_paths(tmp_path: Path) -> None:
    laid_out(tmp_path / "class", exports.FOLDERS)
    (tmp_path / "link").symlink_to("class")
    os.mkfifo(tmp_path / "pipe")
    for name, sentence in (("clas", "did you mean"), ("link", "is a link"), ("pipe", "is a named pipe")):
        with pytest.raises(UsageError, match=sentence):
            read_class(tmp_path / name, roster=None, into=tmp_path / "into")


PIECES = st.sampled_from(
    ["ada", "Ada Lovelace", "_", "-", "1", "1001", "LATE", "anon_x", "assignsubmission_file", "submission_", " - ",
     "..", "Oct 5, 2026 1107 AM", "x.py", ".zip", "hw-1", "text.html", "\u202e", "\n", "נועה", "é", "timestamp.txt",
     ".git", "con"]
)  # fmt: skip
NAMES = (
    st.lists(PIECES, min_size=1, max_size=6).map(lambda parts: "".join(parts)).filter(lambda n: n not in (".", ".."))
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.lists(NAMES, min_size=1, max_size=3).map("/".join), st.just(CODE), max_size=6))
def test_any_names(tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]) -> None:
    """Each class is read or refused in a sentence; every submission is there, apart from the others, and inside."""
    root = tmp_path_factory.mktemp("any")
    archive = zipped(root / "class.zip", files)
    try:
        found = read_class(archive, roster=None, into=root / "into")
    except UsageError:
        return
    assert len({normalize_component(d.name) for d in found.attempts}) == len(found.attempts)
    assert all(d.path.exists() and d.path.resolve().is_relative_to(root / "into") for d in found.attempts)
    assert len({d.path for d in found.attempts}) == len(found.attempts)
    assert {p.name for p in root.iterdir()} == {"class.zip", "into"}
