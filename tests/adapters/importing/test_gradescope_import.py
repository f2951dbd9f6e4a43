"""A Gradescope autograder becomes `suite: unittest`, with the totals of gradescope-utils' own runner."""

import zipfile
from pathlib import Path

import pytest

from tests.support.imported_course import ImportedCourse
from tests.support.nbgrader_class import put
from tests.support.suite_course import DECORATORS, original
from viva.model.errors import UsageError
from viva.plugins.suites.importing.gradescope_import import import_gradescope

TESTS = {
    "test_sum.py": DECORATORS
    + """
import helper
from calculator import add

class TestSum(unittest.TestCase):
    @weight(2)
    @number("1")
    def test_add(self):
        self.assertEqual(add(1, 2), helper.three())

    @partial_credit(4)
    def test_part(self, set_score=None):
        set_score(sum(add(n, n) == 2 * n for n in (0, 1, 2, 3)))

    @weight(1)
    @visibility("after_published")
    def test_data(self):
        with open("numbers.txt") as file:
            self.assertEqual(add(*map(int, file.read().split())), 5)
""",
    "helper.py": "def three():\n    return 3\n",
}
CLASS = {
    "right": "def add(a, b): return a + b\n",
    "wrong": "def add(a, b): return a - b\n",
    "partly": "def add(a, b): return 2 * a if a == b and a < 3 else 3\n",
    "raises": "def add(a, b): raise ValueError(a)\n",
    "no python": "def add(a, b) return a\n",
    "nothing": "",
}


def autograder(folder: Path) -> Path:
    for name, text in TESTS.items():
        put(folder / "tests" / name, text)
    put(folder / "numbers.txt", "2 3\n")
    put(folder / "run_tests.py", "post_processor = print\n")
    put(folder / "setup.sh", "pip install numpy\n")
    put(folder / "requirements.txt", "numpy\n")
    put(folder / "run_autograder", "#!/bin/bash\n")
    return folder


def test_totals_equal_those_of_gradescope_utils(tmp_path: Path) -> None:
    imported = import_gradescope(autograder(tmp_path / "sums"))
    assert imported[0].settings["submission"] == {"notebook": None, "module": "calculator.py"}
    assert imported[0].settings["data"] == ["numbers.txt"]
    course = ImportedCourse(tmp_path / "course", imported)
    with course.process:
        for name, text in CLASS.items():
            expected = original(tmp_path / "original", TESTS, {"calculator.py": text, "numbers.txt": "2 3\n"})
            assert float(course.score({"calculator.py": text}).earned) == pytest.approx(expected.score), name


@pytest.mark.parametrize(
    ("files", "module"),
    [
        ({"test/test_a.py": "import hw"}, "hw.py"),
        ({"test_a.py": "import hw", "words.txt": "a"}, "hw.py"),
        ({"grader/test_a.py": "import hw"}, "hw.py"),
        ({"tests/test_a.py": "missing = check_submitted_files(['hw.py', 'report.pdf'])"}, "hw.py"),
        ({"tests/test_a.py": "import subprocess\nsubprocess.run(['python3', 'src/fib.py', '3'])"}, "fib.py"),
        ({"tests/test_a.py": "import subprocess\nsubprocess.getoutput('python hw.py < in.txt')"}, "hw.py"),
    ],
)
def test_other_places(tmp_path: Path, files: dict[str, str], module: str) -> None:
    for name, text in files.items():
        put(tmp_path / name, text)
    (imported,) = import_gradescope(tmp_path)
    assert imported.settings["submission"]["module"] == module
    assert next(iter(imported.graders)) == "tests/test_a.py"
    assert imported.settings.get("data", []) == (["words.txt"] if "words.txt" in files else [])


def test_module_and_tests_options(tmp_path: Path) -> None:
    """The sample solution is in the folder: without its name it would be taken for a file of the author's."""
    put(tmp_path / "solution/hw.py", "def add(a, b): return a + b\n")
    put(tmp_path / "checks/test_a.py", DECORATORS + "from hw import add\nclass T(unittest.TestCase):\n"
        "    @weight(2)\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n")  # fmt: skip
    put(tmp_path / "tests/test_old.py", "import other")
    with pytest.raises(UsageError, match="Name its folder with --tests"):
        import_gradescope(tmp_path, tests="nowhere")
    imported = import_gradescope(tmp_path, module="hw.py", tests="checks")
    assert imported[0].accepted == {"hw.py": b"def add(a, b): return a + b\n"}
    course = ImportedCourse(tmp_path / "course", imported)
    with course.process:
        assert course.score({"hw.py": "def add(a, b): return a + b\n"}).earned == 2


def test_what_is_not_imported_is_noted(tmp_path: Path) -> None:
    notes = " ".join(import_gradescope(autograder(tmp_path))[0].notes)
    assert "setup.sh is not run" in notes and "post_processor" in notes and "numpy" in notes


@pytest.mark.parametrize("folder", ["", "source/", "a/b/"])
def test_tests_are_found_in_any_folder_of_an_archive(tmp_path: Path, folder: str) -> None:
    path = tmp_path / "autograder.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in TESTS.items():
            archive.writestr(f"{folder}tests/{name}", text)
    (imported,) = import_gradescope(path)
    assert sorted(imported.graders) == ["tests/helper.py", "tests/test_sum.py"]


def test_several_modules(tmp_path: Path) -> None:
    put(tmp_path / "tests/test_a.py", "import one, two\nfrom two.more import x\nimport unittest, numpy\n")
    put(tmp_path / "tests/test_b.py", "import two\n")
    (imported,) = import_gradescope(tmp_path)
    assert imported.settings["submission"]["module"] == "two.py"
    assert sorted(imported.starter) == ["one.py", "two.py"]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"x.py": ""}, "holds no tests/test"),
        ({"tests/helper.py": ""}, "holds no tests/test"),
        ({"tests/test_a.py": "import unittest"}, "cannot tell which module"),
        ({"tests/test_a.py": "import ("}, "cannot tell which module"),
        (
            {"tests/test_a.py": "import hw\nclass T:\n    @weight(-1)\n    def test_a(self): pass\n"},
            r"test_a.py, line 3: `weight\(-1\)` takes points off",
        ),
    ],
)
def test_invalid_autograder(tmp_path: Path, files: dict[str, str], words: str) -> None:
    for name, text in files.items():
        put(tmp_path / name, text)
    with pytest.raises(UsageError, match=words):
        import_gradescope(tmp_path)
