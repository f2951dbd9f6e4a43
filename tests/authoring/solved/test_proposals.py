"""Proposed tests: inputs like those of the notebook, as wide as the solution answers, in few readable lines."""

import re
from pathlib import Path

import pytest

from tests.support.course_of_texts import best_tier
from tests.support.solved_course import NOTEBOOKS, taken_over
from tests.support.table_rows import Rows
from viva.config import Course, load_course
from viva.model.errors import UsageError
from viva.plugins.authoring.empty_course import make_course
from viva.plugins.authoring.solved.from_solution import from_solution
from viva.plugins.authoring.source.source_cells import Cell
from viva.plugins.authoring.source.starter import notebook_of
from viva.plugins.verify.verify_course import verify

pytestmark = pytest.mark.long


def test_manually_graded_function(tmp_path: Path) -> None:
    root, made = taken_over("plots", tmp_path, ("    return figure", "    plt.show()"))
    assert [(question.number, proposal.name) for question, proposal in made.left] == [("2", "plot_losses")]
    tests = (made.folder / "tests.py").read_text("utf-8")
    why = "it returns nothing, prints nothing and changes nothing"
    assert f"# A person grades `plot_losses`: {why}.\n@number" in tests
    assert 'needs_review(submission.code("plot_losses"), rubric="2")' in tests
    course = load_course(root)
    questions = course.assignment("plots").rubric().questions
    assert [(question.number, float(question.points)) for question in questions] == [("2", 3), ("3", 2)]
    assert questions[0].model.startswith("```python\ndef plot_losses(") and "SOLUTION" not in questions[0].model
    assert complaints(course, "plots") == []


def test_figure_is_compared_by_its_data(tmp_path: Path) -> None:
    root, made = taken_over("plots", tmp_path)
    (said,) = made.proposals["plot_losses"].warnings
    assert said == "`plot_losses` draws: the data are compared; titles and labels of its own, and colours, are not."
    assert "drawn(student.plot_losses, like=key.plot_losses)" in (made.folder / "tests.py").read_text("utf-8")
    assert complaints(load_course(root), "plots") == []


SPECIAL = """\
# %% [markdown]
# ## 1. A bag (4 points)

# %%
class Bag:
    def __init__(self):
        self.items = []

    def add(self, item):
        self.items.append(item)

    def __len__(self):
        return len(self.items)

    def __contains__(self, item):
        return item in self.items

    def __eq__(self, other):
        return sorted(self.items) == sorted(other.items)

    def __repr__(self):
        return "never shown"

bag = Bag()
bag.add(3)
len(bag), 3 in bag, bag == bag
"""


def test_special_methods(tmp_path: Path) -> None:
    path = tmp_path / "bags.py"
    path.write_text(SPECIAL, "utf-8")
    make_course(tmp_path / "course")
    made = from_solution(load_course(tmp_path / "course"), "bags", path)
    tests = (made.folder / "tests.py").read_text("utf-8")
    assert 'just("__len__")' in tests and 'just("__contains__")' in tests
    assert "__eq__" not in tests and "__repr__" not in tests, "one needs another bag, the other is never used"
    assert complaints(load_course(tmp_path / "course"), "bags") == []


POINTS = """\
# %% [markdown]
# ## 1. Two functions

# %%
def double(x):
    return 2 * x

def connect(socket):
    return socket.makefile()

double(3)
"""


def test_points_without_a_test(tmp_path: Path) -> None:
    path = tmp_path / "two.py"
    path.write_text(POINTS, "utf-8")
    make_course(tmp_path / "course")
    made = from_solution(load_course(tmp_path / "course"), "two", path)
    assert [proposal.name for _, proposal in made.left] == ["connect"]
    assert "# TODO 1, `connect`: no test is proposed" in (made.folder / "tests.py").read_text("utf-8")
    assert complaints(load_course(tmp_path / "course"), "two") == []


def complaints(course: Course, name: str) -> list[tuple[str, ...]]:
    """What `viva verify` finds wrong."""
    secret = b"a secret of this test alone"
    ((_, findings),) = verify(course, [course.assignment(name)], best_tier(), secret, with_mutants=False)
    return [finding.complaints for finding in findings if not finding.holds]


SUSPICIOUS = '''\
# %% [markdown]
# ## 1. Mean (2 points)

# %%
def mean(values):
    """The mean.

    >>> mean([1, 2])
    2.0
    """
    return sum(values) / len(values)

mean([1, 2, 4])

def scaled(x, table, unused=1):
    """The entry.

    >>> scaled(1, {1: 2})
    np.float64(2.0)
    """
    return float(table[x])

scaled(2, {2: 3}, unused=2)
table = {1: [5.0], 3: [2.0]}

def entry(x, entries):
    return len(entries) + sum(table[x])

entry(3, table)
missing(3)

# %% [markdown]
# ## 2. Data (2 points)

# %%
def first_line():
    return open("data/words.txt").readline()

first_line()
'''


def test_warnings_name_what_was_not_proposed(tmp_path: Path) -> None:
    root, _ = taken_over("marked", tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "words.txt").write_text("the\n")
    source = tmp_path / "odd.py"
    source.write_text(SUSPICIOUS)
    made = from_solution(load_course(root), "odd", source)
    said = "\n".join(warning for proposal in made.proposals.values() for warning in proposal.warnings)
    reasons = {name: proposal.reason for name, proposal in made.proposals.items()}
    assert reasons == {
        "mean": "it contradicts an example in its docstring (cell 2, line 4): `mean([1, 2])` gives 1.5, and not 2.0",
        "scaled": "",
        "entry": "it reads the variable `table` (cell 2, line 28), which the notebook passes as its argument "
        "`entries`; an answer that uses the argument would lose points",
        "first_line": "",
    }
    assert "`scaled(2, {1: 2}, 1)` raises KeyError: 2 (cell 2, line 20). Such arguments are not asked." in said
    assert "`scaled` never uses its argument `unused`." in said
    assert not any(made.proposals[name].body for name in ("mean", "entry"))
    assert made.failed == [(2, "NameError: name 'missing' is not defined")]
    assert made.data == ["data/words.txt"] and (made.folder / "data/words.txt").is_file()
    assert load_course(root).assignment("odd").data_names == ("data/words.txt",)


READING = """
## 1.1 Read (2 points)
import os
from pathlib import Path
import sys
from lowering import low
from failing import nothing
sys.path.append("venv/lib/site-packages")
import installed

def first_word():
    folder = Path("texts")
    return low((folder / "a.txt").read_text().split()[0])

first_word()
open(os.path.join("texts", "b.txt")).read()
open(".token").read()
open("made.txt", "w").write("1")
open("made.txt").read()
open("large.bin", "rb").close()
"""


def test_data_files(tmp_path: Path) -> None:
    make_course(tmp_path / "course")
    (tmp_path / "texts").mkdir()
    files = {"texts/a.txt": "A b", "texts/b.txt": "", ".token": "s3"}
    files |= {"lowering.py": "def low(x): return x.lower()", "failing.py": "import no_such_library"}
    for path, text in files.items():
        (tmp_path / path).write_text(text, "utf-8")
    with (tmp_path / "large.bin").open("wb") as large:
        large.truncate(65 << 20)
    library = tmp_path / "venv/lib/site-packages/installed"
    library.mkdir(parents=True)
    (library / "__init__.py").write_text("open(__file__.replace('__init__.py', 'd.txt')).read()", "utf-8")
    (library / "d.txt").write_text("", "utf-8")
    heading, code = READING.strip().split("\n", 1)
    source = tmp_path / "solved.ipynb"
    source.write_bytes(notebook_of([Cell("markdown", heading, 1), Cell("code", code, 2)]))
    made = from_solution(load_course(tmp_path / "course"), "reading", source)
    assert [text for _, text in made.failed] == ["ModuleNotFoundError: No module named 'no_such_library'"]
    assert set(made.data) == {"lowering.py", "failing.py", "texts/a.txt", "texts/b.txt"}
    assert made.too_large == ["large.bin"]
    assert "key.first_word()" in (made.folder / "tests.py").read_text("utf-8")


def test_unusable_sources(tmp_path: Path) -> None:
    root, _ = taken_over("marked", tmp_path)
    before = sorted(path.relative_to(root) for path in root.rglob("*"))
    with Rows() as row:
        for name, text, said in [
            ("prose.py", "# %% [markdown]\n# Nothing to do\n", "viva found no question"),
            ("other.txt", "", "expected a solved notebook"),
            ("broken.ipynb", "{", "cannot be read as a notebook"),
            ("ends.py", "# %% [markdown]\n# ## 1. A\n# %%\nimport os\ndef f(): pass\nos._exit(3)", "status 3"),
        ]:
            path = tmp_path / name
            path.write_text(text)
            with row(name), pytest.raises(Exception, match=re.escape(said)) as raised:
                from_solution(load_course(root), "new", path)
            assert not isinstance(raised.value, RuntimeError)
    with pytest.raises(UsageError, match="lists an assignment `marked` already"):
        from_solution(load_course(root), "marked", NOTEBOOKS / "marked.py")
    assert sorted(path.relative_to(root) for path in root.rglob("*")) == before


UNUSUAL = """\
# %% [markdown]
# # A "quoted" title \\ with a backslash

# %%
from functools import lru_cache

@lru_cache
def fast(n):
    return n * n

def softMax(x): return x

def soft_max(x):
    return -x

fast(3), softMax(2), soft_max(2)
"""


def test_unusual_names(tmp_path: Path) -> None:
    root, _ = taken_over("marked", tmp_path)
    (tmp_path / "unusual.py").write_text(UNUSUAL)
    made = from_solution(load_course(root), "unusual", tmp_path / "unusual.py")
    tests = (made.folder / "tests.py").read_text("utf-8")
    compile(tests, "tests.py", "exec")
    assert re.findall(r"^def (\w+)", tests, re.M) == ["test_fast", "test_soft_max", "test_soft_max_2"]
    assert made.left == []
