"""Courses become typed values; a wrong course file is one sentence with file, line, key and what is allowed."""

from collections.abc import Callable
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from tests.support.table_rows import Rows
from viva.config import SubmissionFiles, load_course
from viva.model import Limits, Tier
from viva.model.errors import CourseError, UsageError

Write = Callable[[str, str], Path]

FULL = """\
title: Masks
version: 3
submission: {notebook: "hw?.ipynb", module: masks.py}
load: definitions
device: cpu
points: 12.5
preload: [numpy, torch.optim]
limits: {load_s: 60, call_s: 2.5, memory_mib: 512, fork: false}
data: [data/corpus.txt]
forbid: [sacrebleu, torch.nn.MultiheadAttention]
due: 2026-12-01T23:59:00+01:00
min_tier: T2
"""


def test_every_key(write: Write, tmp_path: Path) -> None:
    write("assignments/masks/assignment.yaml", FULL)
    corpus = write("fixtures/masks/data/corpus.txt", "a b c\n")
    course = load_course(tmp_path)
    masks = course.assignment("masks")
    assert (course.root, course.title, course.assignments) == (tmp_path, "nlp", ("masks", "lora"))
    assert (masks.name, masks.title, masks.version, masks.load) == ("masks", "Masks", 3, "definitions")
    assert masks.submission == SubmissionFiles("hw?.ipynb", "masks.py")
    assert masks.device == "cpu"
    assert masks.points == Fraction(25, 2)
    assert masks.preload == ("numpy", "torch.optim")
    assert masks.limits == Limits(load_s=60, call_s=2.5, memory_mib=512, fork=False)
    assert (masks.data, masks.data_names) == ((corpus,), ("data/corpus.txt",))
    assert masks.forbid == ("sacrebleu", "torch.nn.MultiheadAttention")
    assert masks.due is not None
    assert masks.due.utcoffset() == timedelta(hours=1)
    assert masks.min_tier is Tier.T2
    assert masks.graders == tmp_path / "graders" / "masks"
    assert masks.starter == tmp_path / "assignments" / "masks" / "starter"


def test_gradescope_settings(write: Write, tmp_path: Path) -> None:
    settings = load_course(tmp_path).assignment("masks").release.gradescope
    assert (settings.timeout, settings.hidden) == (600.0, "after_published")
    assert settings.training and settings.files == ()
    text = "title: M\nrelease: {gradescope: {timeout: 40m, hidden: hidden, files: [a]}}\n"
    write("assignments/masks/assignment.yaml", text)
    settings = load_course(tmp_path).assignment("masks").release.gradescope
    assert (settings.timeout, settings.hidden) == (2400.0, "hidden")
    assert settings.files == ("a",)


@pytest.mark.parametrize(
    ("written", "exact"),
    [("100", Fraction(100)), ("0.1", Fraction(1, 10)), ("100/3", Fraction(100, 3)), ("0", Fraction(0))],
)
def test_points_are_exact(write: Write, tmp_path: Path, written: str, exact: Fraction) -> None:
    write("assignments/masks/assignment.yaml", f"title: Masks\npoints: {written}\n")
    assert load_course(tmp_path).assignment("masks").points == exact


WRONG = [
    # keys
    ("titel: Masks\n", [":1: titel: there is no such key; did you mean `title`?"]),
    ("title: M\nlimits:\n  load_s: 1\n  memory_mb: 5\n", [":4: limits.memory_mb:", "did you mean `memory_mib`?"]),
    ("version: 2\n", [": title: this key is needed and is missing."]),
    ("title: M\ntitle: N\n", [":2: the key `title` is written twice (first in line 1)."]),
    # values
    ("title: 5\n", [":1: title: found `5`, expected a text."]),
    ("title: M\nversion: 1.5\n", [":2: version: found `1.5`, expected a valid integer."]),
    ("title: M\nload: runn\n", [":2: load: found `runn`, expected 'run' or 'definitions'."]),
    ("title: M\nlimits: {load_s: 0}\n", ["limits.load_s: found `0`, expected a number of seconds, more than 0"]),
    ("title: M\nlimits: {load_s: .nan}\n", ["limits.load_s: found `.nan`, expected a number of seconds"]),
    ("title: M\nlimits: {fork: no}\n", ["limits.fork: found `no`, expected true or false."]),
    ("title: M\npoints: many\n", ["points: found `many`, expected a number of points, zero or more"]),
    ("title: M\npoints: -1\n", ["points: found `-1`, expected a number of points, zero or more"]),
    ("title: M\npoints: 1/0\n", ["points: found `1/0`, expected a number of points"]),
    ("title: M\npreload: numpy\n", ["preload: found `numpy`, expected a list, such as [a, b]."]),
    (
        "title: M\npreload:\n  - numpy\n  - import os\n",
        [":4: preload.1: found `import os`, expected a module's name, such as numpy, or torch?"],
    ),
    ("title: M\nforbid: [a, b, a]\n", ["forbid: found a list, expected each element once; `a` is there twice."]),
    (
        "title: M\ndue: 2026-12-01T23:59:00\n",
        ["due: found `2026-12-01T23:59:00`, expected a date and"],
    ),
    (
        "title: M\nrelease: {gradescope: {timeout: 41m}}\n",
        ["release.gradescope.timeout: found `41m`, expected a time from 2m to 40m, such as 10m."],
    ),
    ("title: M\nsubmission: {notebook: null, module: null}\n", ["submission: found neither notebook nor module"]),
    ("title: M\npython: /no/such/python\n", ["python: found `/no/such/python`, expected the path of a Python"]),
    # files
    ("title: M\ndata: [data/none.txt]\n", [":2: data.0: `data/none.txt` does not exist; looked in"]),
    ("title: M\ndata: [../../grader.yaml]\n", ["data.0: `../../grader.yaml` points outside"]),
    ("title: M\ndata: [/etc/passwd]\n", ["data.0: `/etc/passwd` points outside"]),
    ("title: M\ndata: [link]\n", ["data.0: `link` points outside"]),
    ("title: M\ndata: [folder]\n", ["data.0: `folder` is a folder; list each file"]),
    # YAML
    ("title: M\n\tload: run\n", [":2: invalid YAML: ", "indent with spaces"]),
    ("title: !!python/object/apply:os.system [id]\n", [":1: a text that begins with `!` must be in quotes."]),
    ("just words\n", ["found `just words`, expected keys with values", "from these: title, version"]),
    ("title: \0\n", [":1: there is a character that YAML does not allow."]),
    ("title: " + "[" * 100_000, ["nested deeper than 24 levels"]),
]


def test_wrong_assignment_file(write: Write, tmp_path: Path) -> None:
    (tmp_path / "assignments/masks/link").symlink_to("/etc/passwd")
    (tmp_path / "assignments/masks/folder").mkdir()
    with Rows() as row:
        for n, (text, parts) in enumerate(WRONG):
            with row(n, parts[0]):
                path = write("assignments/masks/assignment.yaml", text)
                with pytest.raises(CourseError) as caught:
                    load_course(tmp_path).assignment("masks")
                sentence = str(caught.value)
                assert sentence.startswith(str(path))
                assert sentence[-1] in ".?)" and "\n" not in sentence
                for part in parts:
                    assert part in sentence


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("assignments: [masks]\n", "course: this key is needed and is missing."),
        (
            "course: nlp\nassignments: [masks, masks]\n",
            "assignments: found a list, expected each element once; `masks` is there twice.",
        ),
        ("course: nlp\nassignments: [../etc]\n", "assignments.0: found `../etc`, expected a folder's name"),
        ("course: nlp\nassignments: [..]\n", "assignments.0: found `..`, expected a folder's name"),
        ("course: nlp\nassignments: [m]\nsecret: hunter2\n", "secret: found `hunter2`, expected env:NAME"),
    ],
)
def test_wrong_course_file(write: Write, tmp_path: Path, text: str, part: str) -> None:
    write("grader.yaml", text)
    with pytest.raises(CourseError) as caught:
        load_course(tmp_path)
    assert part in str(caught.value)


def test_course_file_that_is_no_text(write: Write, tmp_path: Path) -> None:
    (tmp_path / "grader.yaml").write_bytes(b"course: \xff\xfe")
    with pytest.raises(CourseError, match=r"not UTF-8 text \(byte 8\)"):
        load_course(tmp_path)


def test_folder_without_a_course(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"no grader\.yaml; `viva init DIR`"):
        load_course(tmp_path)


def test_listed_assignment_that_is_not_there(write: Write, tmp_path: Path) -> None:
    write("grader.yaml", "course: nlp\nassignments: [masks, ghost]\n")
    with pytest.raises(CourseError, match=r"`ghost`, but .*ghost/assignment\.yaml"):
        load_course(tmp_path).assignment("ghost")


@pytest.mark.parametrize(("asked", "said"), [("mask", "did you mean `masks`?"), ("bert", "there are: masks, lora.")])
def test_assignment_that_is_not_listed(write: Write, tmp_path: Path, asked: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_course(tmp_path).assignment(asked)
    assert f"lists no assignment `{asked}`; {said}" in str(caught.value)
