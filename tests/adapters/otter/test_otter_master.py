"""A master notebook becomes what `otter assign` makes of it."""

import json
import subprocess
import zipfile
from pathlib import Path

import pytest

from bench import environment
from tests.support.imported_course import ImportedCourse, points_by_question
from tests.support.otter_class import autograder, graded_by_otter
from tests.support.otter_master_notebook import (
    CONFIG,
    Cell,
    block,
    code,
    function_cells,
    markdown,
    master,
    ok_cells,
    question,
    raw,
)
from viva.model import Status
from viva.model.errors import UsageError
from viva.plugins.suites.otter.otter_files import OtterTest, read_tests
from viva.plugins.suites.otter.otter_import import import_otter
from viva.plugins.suites.otter.otter_master import Master, read_master

FORMS = {"doctests": ok_cells, "functions": function_cells}


def otter_tests(folder: Path, files: dict[str, bytes]) -> tuple[OtterTest, ...]:
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return read_tests(folder)


def sources(notebook: bytes) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(notebook)["cells"]]


def read(cells: list[Cell]) -> Master:
    return read_master(master(cells), "hw.ipynb")


def test_student_notebook() -> None:
    given, solution = sources(read(ok_cells()).student), sources(read(ok_cells()).solution)
    assert given == [
        "import otter\ngrader = otter.Notebook()",
        "# Homework",
        "import numpy as np\nrng_seed = 1 # SEED\nkept = 2".replace("rng_seed = 1 # SEED", "rng_seed = 1"),
        "rng_seed = 1\nkept += 1",
        "Square.",
        "def square(x):\n    ...",
        'grader.check("q1")',
        "words = ...\nx, y = ...",
        "Why?",
        "_Type your answer here, replacing this text._",
    ]
    assert "    return x ** 2" in solution[5] and "words = ['a', 'b']" in solution[7]
    assert not any("Because" in text for text in given)


def test_settings_files_and_rubric_are_read() -> None:
    found = read(ok_cells())
    assert found.config == {"show_hidden": True, "points_possible": 20, "seed": 7, "seed_variable": "rng_seed"}
    assert found.files == ["words.txt"]
    assert found.rubric["q3"]["points"] == 4 and "Because." in found.rubric["q3"]["model"]


@pytest.mark.parametrize("form", FORMS)
def test_solution_and_starter(tmp_path: Path, form: str) -> None:
    (tmp_path / "hw.ipynb").write_bytes(master(FORMS[form]()))
    (tmp_path / "words.txt").write_text("a b")
    course = ImportedCourse(tmp_path / "course", import_otter(tmp_path))
    with course.process:
        author = course.course.root / "fixtures" / course.assignment.name / "submissions/accepted/author/hw.ipynb"
        score = course.score({"hw.ipynb": author.read_text("utf-8")})
        assert {e.status for e in score.entries} <= {Status.PASSED, Status.NEEDS_REVIEW}
        assert score.earned == 20
        starter = course.score({"hw.ipynb": course.assignment.starter.joinpath("hw.ipynb").read_text("utf-8")})
        assert starter.earned == 0


@pytest.mark.nightly
@pytest.mark.skipif(bool(environment.missing()), reason="otter-grader is not installed in .venv/others")
@pytest.mark.parametrize("form", FORMS)
def test_equals_otter_assign(tmp_path: Path, form: str) -> None:
    """What otter makes of the notebook says the same, and grades a right and a wrong submission alike."""
    (tmp_path / "hw.ipynb").write_bytes(master(FORMS[form]()))
    (tmp_path / "words.txt").write_text("a b")
    command = [environment.program("otter"), "assign", "--no-run-tests", "hw.ipynb", "dist"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment.variables(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (archive,) = (tmp_path / "dist" / "autograder").glob("*.zip")
    theirs = [p for p in zipfile.ZipFile(archive).namelist() if p.startswith("tests/")]
    with zipfile.ZipFile(archive) as opened:
        made = otter_tests(tmp_path / "theirs", {Path(p).name: opened.read(p) for p in theirs})
    ours = otter_tests(tmp_path / "ours", read_master((tmp_path / "hw.ipynb").read_bytes(), "hw.ipynb").tests)
    assert [(t.name, t.cases, t.all_or_nothing) for t in ours] == [(t.name, t.cases, t.all_or_nothing) for t in made]
    texts = {kind: (tmp_path / "dist" / kind / "hw.ipynb").read_text("utf-8") for kind in ("autograder", "student")}
    earned = {kind: graded_by_otter(tmp_path / f"graded_{kind}", archive, text) for kind, text in texts.items()}
    total = float(sum(t.points for t in made))
    for name, path in {"master": tmp_path / "hw.ipynb", "assigned": tmp_path / "dist"}.items():
        course = ImportedCourse(tmp_path / f"course_{name}", import_otter(path))
        with course.process:
            for kind, text in texts.items():
                won = points_by_question(course.score({"hw.ipynb": text}))
                assert {q: won[q] * total / 20 for q in earned[kind]} == pytest.approx(earned[kind]), (name, kind)


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([raw(CONFIG)], "holds no tests"),
        ([raw(CONFIG + "plugins: [late]\n"), *question("q", "", block("TESTS", code("1", "1")))], "`plugins` cannot"),
        (question("q", "", block("TESTS", code("1 +"))), "cell 3 of all cells is not valid Python"),
        (question("q", "", block("TESTS", markdown("x"))), "cell 3 of all cells is among tests, but holds no code"),
        (question("q", "", block("TESTS", code("1")))[:-1], "the last question block does not end"),
        (question("q", "", block("TESTS", code("1")))[:-2], "the last tests block does not end"),
        (block("SOLUTION", code("1")), "cell 1 of all cells begins a solution block where none is allowed"),
        ([raw("# END QUESTION")], "cell 1 of all cells ends a question block that is not the last one begun"),
        ([raw("# BEGIN QUESTION\npoints: 1")], "a question without a name"),
        ([raw("# BEGIN QUESTION\nname: [")], "settings that are not valid YAML"),
        (question("../q", "", block("TESTS", code("1"))), "its name is to hold letters"),
        (question("q", "", block("SOLUTION", code("# BEGIN SOLUTION"))), "has no `# END SOLUTION`"),
        ([code("# BEGIN PLUGIN\nx\n# END PLUGIN")], "cell 1 of all cells holds a plugin"),
        ([markdown("Text\n```otter\n# END QUESTION\n```")], "give the block a cell of its own"),
        (2 * question("q", "", block("TESTS", code("1"))), "ends a second question `q`"),
        (
            question("q", "", block("TESTS", code('""" # BEGIN TEST CONFIG\nweight\n""" # END TEST CONFIG\n1'))),
            "otter knows",
        ),
        ([raw("# ASSIGNMENT CONFIG\nconfig_file: more.yml")], "'more.yml', which is not next to the notebook"),
    ],
)
def test_invalid_master(cells: list[Cell], words: str) -> None:
    with pytest.raises(UsageError) as raised:
        read(cells)
    assert words in str(raised.value) and str(raised.value).startswith("hw.ipynb")


def test_named_files(tmp_path: Path) -> None:
    settings = "# ASSIGNMENT CONFIG\nconfig_file: conf/more.yml\nfiles: [data, words.txt, 'more/*.csv', gone.txt]\n"
    cells = [raw(settings), *question("q", "", block("TESTS", code("1", "1")))]
    (tmp_path / "hw.ipynb").write_bytes(master(cells))
    put = {"data/a/b.txt": "1", "data/c.txt": "2", "words.txt": "3", "more/d.csv": "4", "more/e.txt": "5"}
    for name, text in {**put, "conf/more.yml": "seed: {autograder_value: 5}\nfiles: [other.txt]\n"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for path in (tmp_path / "hw.ipynb", tmp_path):
        (imported,) = import_otter(path)
        assert imported.settings["data"] == ["data/a/b.txt", "data/c.txt", "more/d.csv", "words.txt"]
        assert imported.notes == ["gone.txt is named in the master notebook, and is not there."]
        assert json.loads(imported.graders["otter_config.json"]) == {"seed": 5}


FIRST_FORMAT = [
    markdown("# Homework\n\n```\nBEGIN ASSIGNMENT\nfiles: [words.txt]\nseed: 7\ngenerate:\n  show_hidden: true\n```"),
    code("import numpy as np"),
    markdown("**Question 1.** Square.\n\n```\nBEGIN QUESTION\nname: q1\npoints: 2\n```"),
    code("def square(x):\n    return x ** 2 # SOLUTION"),
    code("## Test ##\nsquare(2)", "4"),
    code("# HIDDEN TEST\nsquare(3)", "9"),
    markdown("```\nBEGIN QUESTION\nname: q2\nmanual: true\npoints: 3\n```\nWhy?"),
    markdown("It is asked."),
    markdown("**SOLUTION:** Because."),
    markdown("The end."),
    code("done = True # SOLUTION"),
]


def test_first_format(tmp_path: Path) -> None:
    (tmp_path / "hw.ipynb").write_bytes(master(FIRST_FORMAT))
    (tmp_path / "words.txt").write_text("a b")
    found = read(FIRST_FORMAT)
    assert sources(found.student) == [
        "import otter\ngrader = otter.Notebook()",
        "# Homework",
        "import numpy as np",
        "**Question 1.** Square.",
        "def square(x):\n    ...",
        'grader.check("q1")',
        "Why?",
        "It is asked.",
        "_Type your answer here, replacing this text._",
        "The end.",
        "done = ...",
    ]
    (test,) = otter_tests(tmp_path / "tests", found.tests)
    assert [(case.hidden, float(case.points)) for case in test.cases] == [(False, 1), (True, 1)]
    assert found.config == {"show_hidden": True, "seed": 7} and found.files == ["words.txt"]
    assert found.rubric["q2"]["points"] == 3 and found.rubric["q2"]["model"] == "Because."
    course = ImportedCourse(tmp_path / "course", import_otter(tmp_path / "hw.ipynb"))
    with course.process:
        assert course.score({"hw.ipynb": found.solution.decode()}).earned == 2


def test_unsafe_yaml() -> None:
    with pytest.raises(UsageError, match="not valid YAML"):
        read([raw("# BEGIN QUESTION\nname: !!python/object/apply:os.system ['true']")])


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"lang": "r"}, "only Python is run"),
        ({"plugins": ["x"]}, "plugins of otter"),
        ({"score_threshold": 0.5}, "passes or fails as a whole"),
        ({"grade_from_log": True}, "what a log says"),
        ({"seed": "7"}, "expected a whole number"),
        ({"seed": 1, "seed_variable": "x; import os"}, "expected a variable's name"),
        ({"points_possible": "100"}, "expected a number of points"),
    ],
)
def test_invalid_settings(tmp_path: Path, config: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        ImportedCourse(tmp_path / "course", import_otter(autograder(tmp_path, config=config)))


def test_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds neither tests"):
        import_otter(tmp_path)
