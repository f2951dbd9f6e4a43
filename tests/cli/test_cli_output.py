"""Where results go: files and folders, old ones, disks that are full or read-only, readers that leave."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.run_command import Viva, program, without_warning
from tests.support.words_course import KEEPS_CASE, RIGHT, hand_in
from viva.formats.atomic_write import write_atomically
from viva.formats.results_json import json_schema, load_results


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Two submissions, one right and one wrong."""
    hand_in(tmp_path / "class" / "ada")
    hand_in(tmp_path / "class" / "bob", KEEPS_CASE)
    return tmp_path


def left_over(folder: Path) -> list[Path]:
    """Files that a writer would leave behind if it were ended in between."""
    return [path for path in folder.rglob("*") if path.name.startswith(".") or path.suffix == ".part"]


def test_one_result_goes_into_the_file_that_is_named(viva: Viva, work: Path) -> None:
    ran = viva("grade", "class/ada", "-o", "new/folder/ada.json")
    assert ran.status == 0 and ran.out.endswith("written: new/folder/ada.json\n")
    assert load_results(Path("new/folder/ada.json")).score == 9


def test_the_command_itself_reads_no_answers_and_imports_nothing_heavy_for_it(work: Path) -> None:
    """Where one submission is graded, whatever the command imports is waited for."""
    code = (
        f"import sys\nfrom viva.cli.main import run\nrun({program('grade', 'class/ada', '-o', 'ada.json')[3:]})\n"
        "print([name for name in ('numpy', 'torch', 'sqlalchemy', 'jinja2') "
        "if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]" and load_results(Path("ada.json")).score == 9, done.stderr


@pytest.mark.slow
def test_several_results_go_below_a_folder_by_their_paths_as_given(viva: Viva, work: Path) -> None:
    ran = viva("grade", "class", "-o", "graded")
    assert ran.status == 0 and "written: 2 results" in ran.out
    assert load_results(Path("graded/class/ada/results.json")).score == 9
    assert load_results(Path("graded/class/bob/results.json")).score == 3
    os.chdir("class")
    assert viva("grade", "../class/ada", "./bob", "-o", "../again").status == 0
    assert sorted(str(p) for p in Path("../again").rglob("results.json")) == [
        "../again/_/class/ada/results.json",
        "../again/bob/results.json",
    ]


@pytest.mark.slow
def test_a_second_run_replaces_what_is_there_and_nothing_else(viva: Viva, work: Path) -> None:
    viva("grade", "class", "-o", "graded")
    mine = Path("graded/class/ada/notes.txt")
    mine.write_text("looks fine", "utf-8")
    Path("graded/class/bob/results.json").write_text("garbage", "utf-8")
    hand_in(Path("class/ada"), KEEPS_CASE)
    assert viva("grade", "class", "-o", "graded").status == 0
    assert load_results(Path("graded/class/ada/results.json")).score == 3
    assert load_results(Path("graded/class/bob/results.json")).score == 3
    assert mine.read_text("utf-8") == "looks fine"
    assert left_over(Path("graded")) == []


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("class/ada/solution.py", "a folder on the way to it is a file"),
        ("class/ada/solution.py/x.json", "a folder on the way to it is a file"),
        ("folder.json", "it is a folder"),
        ("/proc/nowhere/x.json", "cannot be written"),
    ],
)
def test_a_place_that_cannot_be_written_is_said_before_anything_is_graded(
    viva: Viva, work: Path, output: str, said: str
) -> None:
    Path("folder.json").mkdir()
    before = Path("class/ada/solution.py").read_bytes()
    ran = viva("grade", "class/ada", "-o", output)
    assert (ran.status, ran.out) == (1, "")
    assert output in ran.sentence() and said in ran.sentence()
    assert Path("class/ada/solution.py").read_bytes() == before
    assert left_over(work / "class") == []


# --- disks


def mount(at: Path, *options: str) -> None:
    at.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-t", "tmpfs", *options, "tmpfs", str(at)], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("this host lets nobody mount a small disk")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 40 KiB: two results, not ten."""
    disk = tmp_path / "disk"
    mount(disk, "-o", "size=40k")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_full_disk_is_said_and_the_old_result_is_as_it_was(viva: Viva, work: Path, small_disk: Path) -> None:
    assert viva("grade", "class/ada", "-o", small_disk / "ada.json").status == 0
    before = (small_disk / "ada.json").read_bytes()
    filled = 0
    with (small_disk / "filler").open("wb", buffering=0) as filler:
        while filled < 1 << 20:
            try:
                filled += filler.write(bytes(512))
            except OSError:
                break
    ran = viva("grade", "class/bob", "-o", small_disk / "ada.json")
    assert ran.status == 1
    assert "ada.json cannot be written: the disk is full; what was there before is unchanged" in ran.sentence()
    assert (small_disk / "ada.json").read_bytes() == before
    assert left_over(small_disk) == []


@pytest.mark.slow
def test_a_disk_that_fills_up_in_the_middle_of_a_class(viva: Viva, work: Path, small_disk: Path) -> None:
    for index in range(20):
        hand_in(work / "many" / f"s{index:02}")
    ran = viva("grade", "many", "-o", small_disk, "--workers", "1")
    assert ran.status == 1 and "the disk is full" in ran.sentence()
    written = list(small_disk.rglob("results.json"))
    assert 1 <= len(written) < 20 and left_over(small_disk) == []
    assert load_results(sorted(written)[0]).extra_data.complete
    for path in written:
        load_results(path)


def test_a_read_only_disk_is_said(viva: Viva, work: Path, small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    ran = viva("grade", "class/ada", "-o", small_disk / "ada.json")
    assert (ran.status, ran.out) == (1, "")
    assert "ada.json cannot be written: the file system is read-only; say another place with -o." in ran.sentence()


def test_a_disk_that_fails_at_the_last_moment_is_no_success(
    viva: Viva, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The final state of a result could not be written and the command ended with 0."""
    from viva.model.errors import UsageError

    def fail_at_the_end(path: Path, data: bytes, *, durable: bool = True) -> None:
        if durable:
            raise UsageError(f"{path} cannot be written: the disk is full; what was there before is unchanged.")
        write_atomically(path, data, durable=durable)

    monkeypatch.setattr("viva.pipeline.results_writer.write_atomically", fail_at_the_end)
    ran = viva("grade", "class", "-o", "graded")
    assert ran.status == 1 and "the disk is full" in ran.err and "written" not in ran.out
    for path in Path("graded").rglob("results.json"):
        assert not load_results(path).extra_data.complete


# --- readers that leave


def shell(line: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"], capture_output=True, text=True, check=False, env=dict(os.environ)
    )


@pytest.mark.long
@pytest.mark.parametrize("arguments", [["schema"], ["grade", "class/ada", "-o", "ada.json"], ["--help"]])
def test_output_into_a_reader_that_leaves(work: Path, arguments: list[str]) -> None:
    line = " ".join(program(*arguments))
    ran = shell(f"{line} | true")
    assert ran.returncode in (0, 141) and without_warning(ran.stderr) == ""
    ran = shell(f"{line} | head -n 2")
    assert ran.returncode in (0, 141) and without_warning(ran.stderr) == "" and len(ran.stdout.splitlines()) == 2
    if "grade" in arguments:
        assert load_results(Path("ada.json")).extra_data.complete


def test_output_that_cannot_be_written_is_said(work: Path) -> None:
    ran = shell(f"{' '.join(program('schema'))} > /dev/full")
    assert ran.returncode == 1
    assert ran.stderr == "viva: the output cannot be written: No space left on device.\n"


# --- what is printed


@pytest.mark.slow
def test_the_table_of_a_class_and_the_view_of_one(viva: Viva, work: Path) -> None:
    ran = viva("grade", "class")
    ada, bob = (line for line in ran.out.splitlines() if line.startswith(("ada", "bob")))
    assert ada.split()[:4] == ["ada", "9", "9", "1"] and "✓ 4 passed" in ada and "✎ 1 needs review" in ada
    assert bob.split()[1] == "3" and "✗ 2 failed" in bob
    one = viva("grade", "class/bob")
    assert "Random texts are counted. (hidden)" in one.out and "3 of 9 points, 1 more pending" in one.out


@pytest.mark.slow
def test_as_student_shows_what_the_result_shows_and_nothing_else(viva: Viva, work: Path) -> None:
    ran = viva("grade", "class/bob", "--as-student", "-o", "bob.json")
    shown = " ".join(ran.out.split())
    for test in load_results(Path("bob.json")).tests:
        if test.visibility == "visible":
            assert test.name in shown and " ".join(test.output.split()) in shown
        else:
            assert test.name not in shown
    assert "for staff" not in shown and "isolation" not in shown and "and 1 hidden test" in shown
    staff = viva("grade", "class/bob").out
    assert "isolation" in staff and "Random texts" in staff


def test_only_asks_what_is_named(viva: Viva, work: Path) -> None:
    ran = viva("grade", "class/bob", "--only", "1.2", "--only", "test_choice", "-o", "bob.json")
    assert ran.status == 0 and "3 of 3 points" in ran.out and ran.err == ""
    assert [t.extra_data.test_id for t in load_results(Path("bob.json")).tests] == [
        "test_words.py::test_total",
        "test_words.py::test_choice",
    ]
    ran = viva("grade", "class/bob", "--only", "9.9")
    assert ran.status == 1 and "no test '9.9'" in ran.sentence() and "1.1, 1.2, 2.1, 2.2" in ran.sentence()


def test_the_schema_describes_what_is_written(viva: Viva, work: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(viva("schema").out)
    assert schema == json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validate = jsonschema.Draft202012Validator(schema).validate
    Path("class/empty").mkdir()
    viva("grade", "class", "-o", "graded")
    for path in Path("graded").rglob("results.json"):
        validate(json.loads(path.read_bytes()))
    broken = json.loads(Path("graded/class/ada/results.json").read_bytes()) | {"scroe": 1}
    with pytest.raises(jsonschema.ValidationError):
        validate(broken)


def test_doctor_names_every_tier_and_what_each_lacks(viva: Viva) -> None:
    ran = viva("doctor")
    assert ran.status == 0 and ran.err == ""
    for words in ("T0", "T1", "T2", "T3", "Python 3", "numpy", "The best isolation level here is T"):
        assert words in ran.out
    assert sys.prefix in ran.out.replace("\n", "")


def test_a_secret_that_could_be_guessed_is_said(viva: Viva, monkeypatch: pytest.MonkeyPatch, own_course: Path) -> None:
    hand_in(Path("work"), RIGHT)
    assert "could be guessed" not in viva("grade", "work").err
    monkeypatch.setenv("VIVA_SECRET", "ab" * 32)
    ran = viva("grade", "work")
    assert ran.status == 0 and "viva: the course's secret has 64 bits at most" in ran.err
    assert "could be guessed" not in viva("grade", "work", "--visible-only").err
    monkeypatch.setenv("VIVA_COURSE", str(own_course))
    assert "hidden inputs could be guessed" in viva("doctor").out
