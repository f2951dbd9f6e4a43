"""What a command finds around it: streams, locale, environment, the folder it is in, the mask of new files."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.faulty_host import RIGHT_POINTS, assert_right, correct_or_said, grade, linux_only, result
from tests.support.words_course import SECRET, hand_in

pytestmark = [linux_only, pytest.mark.long]
HERE = Path("result.json")
NAMES = ["Łukasz Żółć", "Żukasz Łółć", "李明", "Zoë 🎓"]
C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.parametrize("streams", ["<&-", ">&-", "<&- >&- 2>&-", ">/dev/null 2>/dev/full"])
def test_streams_that_are_closed(streams: str) -> None:
    """With a closed descriptor 1, a socket took its place and what was to be printed was a fault of viva."""
    ran = grade("class/ada", "-o", HERE, shell=f"{{}} {streams}")
    assert (ran.status, ran.err) == (0, "")
    assert result(HERE).extra_data.complete and result(HERE).score == RIGHT_POINTS
    assert ("9 of 9 points" in ran.out) is (">&-" not in streams.split() and ">/dev/null" not in streams)


@pytest.mark.parametrize("errors", ["2>/dev/full", "2> >(exec true)"])
def test_unwritable_warning(errors: str) -> None:
    weak = {"VIVA_SECRET": "ab" * 32}
    assert "could be guessed" in grade("class/ada", env=weak).err
    ran = grade("class/ada", "-o", HERE, shell=f"{{}} {errors}", env=weak)
    assert ran.status == 0 and "9 of 9 points" in ran.out and result(HERE).score == RIGHT_POINTS


@pytest.mark.parametrize("streams", [">/dev/full <&-"])
def test_unwritable_table(streams: str) -> None:
    ran = grade("class/ada", "-o", HERE, shell=f"{{}} {streams}")
    assert (ran.status, ran.sentence()) == (1, "viva: the output cannot be written: No space left on device.")
    assert result(HERE).extra_data.complete and result(HERE).score == RIGHT_POINTS


@pytest.mark.parametrize("lines", [0, 1])
def test_reader_leaves_class(lines: int) -> None:
    ran = grade("class", "-o", "graded", shell=f"set -o pipefail; {{}} | head -n {lines}")
    assert ran.status in (0, 141) and ran.err == ""
    assert result(Path("graded/class/ada/results.json")).score == RIGHT_POINTS


@pytest.mark.parametrize("locale", [C_LOCALE, C_LOCALE | {"PYTHONIOENCODING": "ascii:strict"}, {"LC_ALL": "POSIX"}])
def test_names_in_ascii_locale(locale: dict[str, str]) -> None:
    """They were question marks, in the table and in what each result says about whose it is."""
    for name in NAMES:
        hand_in(Path("names", name))
    ran = grade("names", "-o", "graded", env=locale)
    assert (ran.status, ran.err) == (0, "")
    in_ascii = "PYTHONIOENCODING" in locale
    for name in NAMES:
        letters = name.replace(" 🎓", "")
        assert (letters.encode("ascii", "backslashreplace").decode() if in_ascii else name) in ran.out
        path = Path("graded/names", name, "results.json")
        assert result(path).extra_data.submission == f"names/{name}" and result(path).score == RIGHT_POINTS
        assert json.loads(path.read_bytes())["extra_data"]["submission"] == f"names/{name}"


@pytest.mark.parametrize("missing", ["HOME", "PATH", "all but the course"])
def test_missing_variables(missing: str) -> None:
    if missing in ("HOME", "PATH"):
        ran = grade("class/ada", "-o", HERE, shell=f"unset {missing}; {{}}")
    else:
        settings = [f"VIVA_COURSE={os.environ['VIVA_COURSE']}", f"VIVA_SECRET={SECRET}"]
        ran = grade("class/ada", "-o", HERE, before=["env", "-i", *settings])
    assert_right(ran, HERE)


@pytest.mark.parametrize(("mask", "mode"), [("000", 0o666), ("077", 0o600)])
def test_mask_of_new_files(mask: str, mode: int) -> None:
    assert_right(grade("class/ada", "-o", HERE, shell=f"umask {mask}; {{}}"), HERE)
    assert HERE.stat().st_mode & 0o777 == mode


@pytest.fixture
def gone(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "gone"
    folder.mkdir()
    yield folder
    assert not folder.exists()


def test_removed_current_folder(tmp_path: Path, gone: Path) -> None:
    ran = grade(tmp_path / "class/ada", shell=f"cd {gone} && rmdir {gone}; {{}}")
    assert ran.status == 1
    assert "The folder in which the command was started does not exist any more" in ran.sentence()


@pytest.mark.parametrize("temporary", ["/no/such/folder", "/proc"])
def test_no_folder_for_temporary_files(temporary: str) -> None:
    """Python takes another place of the system's."""
    correct_or_said(ran := grade("class/ada", "-o", HERE, env={"TMPDIR": temporary}), HERE)
    assert ran.status == 0
