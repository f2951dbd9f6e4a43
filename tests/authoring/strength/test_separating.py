"""Calls that show a mistake which the tests do not notice, and the line that makes them notice it."""

from pathlib import Path

import numpy as np

from tests.support.table_rows import Rows
from viva.plugins.authoring.strength.child import separated_by
from viva.plugins.authoring.strength.separating import Separated, add_lines
from viva.plugins.authoring.strength.tests_edit import definitions_in, drawn_by

KEY = """
LIMIT = 50

def rounded(points):
    return int(points)

def grade(points, words=()):
    if points < 0:
        raise ValueError("negative")
    return "pass" if rounded(points) >= LIMIT else "fail"
"""
DRAWN = [(n,) for n in range(-10, 100)]
TESTS = '''"""Tests."""

from viva.grading import agree_on, number


@number("1")
def test_grade(student, key):
    """Grades."""
    agree_on(student.grade, key.grade, integers(0, 9), words("a"), errors="skip")


def test_other(student, key):
    agree_on(student.other, key.other, integers(0, 9))
'''


def broken(before: str, after: str) -> str:
    """The definition that a mistake changes."""
    name = "rounded" if "int(" in before else "grade"
    text = KEY[KEY.index(f"def {name}") :].partition("\n\n")[0]
    assert before in text
    return text.replace(before, after)


SOFTMAX = """
import numpy as np

def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()
"""


def test_large_arrays() -> None:
    drawn = [(np.array(row),) for row in ([], [0.0], [0.5, 1.0], [1.0, 2.0, 3.0])]
    unstable = SOFTMAX.partition("\n\n")[2].replace(" - x.max()", "")
    found = separated_by(SOFTMAX, unstable, "softmax", drawn)
    assert found is not None and found["arguments"] == "np.array([500.0, 1000.0])"
    assert separated_by(f"import numpy as np\n{unstable}", unstable, "softmax", drawn) is None
    # Where the solution itself overflows, no student is asked for more.
    doubled = unstable.replace("/ e.sum()", "/ e.sum() + 0 * e")
    assert separated_by(f"import numpy as np\n{unstable}", doubled, "softmax", drawn) is None


def test_separated_by() -> None:
    with Rows() as row:
        for before, after, arguments in [
            (">= LIMIT", "> LIMIT", "50"),
            ("int(points)", "int(points) - 1", "50"),
            (">= LIMIT", ">= LIMIT + 0", None),
            ("points < 0", "points < -5", None),  # what the solution refuses does not count
            ("points < 0", "points < 1", "0"),
        ]:
            with row(after):
                found = separated_by(KEY, broken(before, after), "grade", DRAWN)
                assert (None if found is None else found["arguments"]) == arguments
                assert found is None or found["shown"] == f"grade({arguments})"


def test_drawn_by(tmp_path: Path) -> None:
    (tmp_path / "tests.py").write_text(TESTS)
    assert drawn_by(tmp_path / "tests.py") == {
        "grade": ["integers(0, 9)", "words('a')"],
        "other": ["integers(0, 9)"],
    }


def test_add_lines(tmp_path: Path) -> None:
    tests = tmp_path / "tests.py"
    tests.write_text(TESTS)
    found = {
        "first": Separated("grade", "grade(50)", "50"),
        "second": Separated("grade", "grade(50)", "50"),
        "third": Separated("other", "other(<Frame>)", ""),
        "fourth": Separated("gone", "gone(1)", "1"),
    }
    assert add_lines(tests, found) == 1
    text = tests.read_text()
    assert 'errors="skip")\n    agree(student.grade(50), key.grade(50))\n' in text
    assert "from viva.grading import agree, agree_on, number\n" in text
    assert add_lines(tests, found) == 0 and tests.read_text() == text


def test_add_imports(tmp_path: Path) -> None:
    tests = tmp_path / "tests.py"
    tests.write_text(TESTS)
    found = {name: Separated("grade", "", f"np.array([{name}])") for name in ("1.0", "2.0")}
    assert add_lines(tests, found) == 2
    assert tests.read_text().startswith('"""Tests."""\n\nimport numpy as np\nfrom viva.grading import')
    assert tests.read_text().count("import numpy") == 1


def test_definitions_in(tmp_path: Path) -> None:
    (tmp_path / "tests.py").write_text(
        '"""Tests."""\nimport numpy as np\nfrom viva.grading import agree_on\n\nA = np.array([1.0])\n\n\n'
        "def cubic(x):\n    return x**3\n\n\n@number('1')\ndef test_f(student, key):\n    pass\n\n\n"
        "test_f_again = with_other_arguments(test_f)\n"
    )
    assert definitions_in(tmp_path / "tests.py") == [
        "import numpy as np",
        "A = np.array([1.0])",
        "def cubic(x):\n    return x ** 3",
    ]
