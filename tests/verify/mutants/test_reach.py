"""Only what a student's function reaches is broken, and what two submissions have in common once."""

import json
from pathlib import Path

import pytest

from tests.support.mutated_code import mutants, submission
from viva.config import load_course
from viva.model import File, Submission
from viva.plugins.verify.expected_verdicts import example_submissions
from viva.plugins.verify.mutants.make_mutants import MutantMaker
from viva.plugins.verify.mutants.mutant_trial import accepted
from viva.plugins.verify.mutants.reachable_code import ReachableCode
from viva.plugins.verify.mutants.submission_code import pieces_of, with_text

COURSE = load_course(Path(__file__).parents[3])


def reached(handed: Submission, *roots: str) -> set[str]:
    reach = ReachableCode(pieces_of(handed))
    return {unit.name for root in roots for unit in reach.from_name(root, ["solution.py"])}


def test_reach_helpers() -> None:
    handed = submission(
        solution="""
        from helpers import softmax as normalise, unused
        import tables
        SIZE = 3
        OTHER = 4
        def attention(x, OTHER=None):
            return normalise(x) + SIZE + tables.row()
        def for_hints(x):
            return unused(x)
        """,
        helpers="""
        def softmax(x):
            return _exp(x)
        def _exp(x):
            return x
        def unused(x):
            return x
        def row():
            return "another file's"
        """,
        tables="def row():\n    return 1\n",
    )
    assert reached(handed, "attention") == {"attention", "SIZE", "softmax", "_exp", "row"}
    files = {
        u.piece.path
        for u in ReachableCode(pieces_of(handed)).from_name("attention", ["solution.py"])
        if u.name == "row"
    }
    assert files == {"tables.py"}
    assert reached(handed, "unused") == {"unused"}
    assert reached(handed, "nothing") == set()


def test_reach_methods() -> None:
    handed = submission(
        solution="""
        class Model(Base):
            width: int = 3
            def __init__(self): self.a = 1
            def forward(self, x): return self._norm(x)
            def _norm(self, x): return x
            def _plot(self): return 1
        def build(): return Model()
        """
    )
    names = {"build", "Model.class", "Model.__init__", "Model.forward", "Model._norm"}
    assert reached(handed, "build") == names


def test_reach_last_definition() -> None:
    handed = submission(solution="def f(n): return n - 1\nn = 3 - 1\ndef f(n): return n - 2\n")
    assert {m.was for m in mutants(handed, "f")} == {"def f(n): return n - 2", ""}


def test_reach_relative_imports() -> None:
    handed = Submission(
        "key",
        (
            File("solution.py", b"from pkg.inner import g as f\ndef late():\n    import other\n"),
            File("pkg/__init__.py", b""),
            File("pkg/inner.py", b"from .helper import h\ndef g(x): return h(x)\n"),
            File("pkg/helper.py", b"def h(x): return x + 1\n"),
            File("pkg/far.py", b""),
            File("other.py", b""),
        ),
        "",
    )
    assert reached(handed, "f") == {"g", "h"}
    needed = ReachableCode(pieces_of(handed)).imported_from(["solution.py"])
    assert needed == {"solution.py", "pkg/__init__.py", "pkg/inner.py", "pkg/helper.py", "other.py"}


def test_reach_cells() -> None:
    cells = [
        {"cell_type": "markdown", "source": "def no(): pass"},
        {"cell_type": "code", "source": ["!pip install x\n"]},
        {"cell_type": "code", "source": ["def half(x):\n", "    return x / 2\n"]},
        {"cell_type": "code", "source": "def f(x): return half(x) + 1"},
    ]
    handed = Submission("n", (File("work.ipynb", json.dumps({"cells": cells, "nbformat": 4}).encode()),), "")
    assert reached(handed, "f") == {"half", "f"}
    made = [m for m in mutants(handed, "f") if m.unit.name == "half" and m.becomes == "return x"]
    assert made[0].where == "accepted/plain/work.ipynb, cell 2, line 2"
    changed = json.loads(made[0].submission(handed).files[0].data)["cells"]
    assert changed[2]["source"].endswith("return x\n") and changed[:2] == cells[:2] and changed[3] == cells[3]
    assert "+    return x" in made[0].diff and "-    return x / 2" in made[0].diff


def test_common_code_is_mutated_once() -> None:
    one = submission(solution="def g(x):\n    return x + 1\ndef f(x):\n    return g(x)\n")
    same = submission(solution='# as text\ndef f(x):\n    return g(x)\ndef g(x):\n    """Doc."""\n    return x + 1\n')
    other = submission(solution="def g(x):\n    return x + 1\ndef f(x):\n    return 2 * g(x)\n")
    seen: set[str] = set()
    counts = []
    for handed in (one, same, other):
        maker = MutantMaker("accepted/x", ReachableCode(pieces_of(handed)), ["f"], ["solution.py"], seen)
        counts.append(len(list(maker.mutants(with_library=False))))
    assert counts[0] > 3 and counts[1] <= 1 and counts[2] >= counts[0]


def test_hash_of_a_mutant() -> None:
    handed = submission(solution="x = 1\n", other="y = 1\n")
    changed = with_text(handed, pieces_of(handed)[0], "x = 2\n", "broken")
    assert [f.data for f in changed.files] == [b"x = 2\n", b"y = 1\n"]
    assert changed.name == "broken" and changed.content_hash != handed.content_hash


@pytest.mark.parametrize("name", COURSE.assignments)
def test_accepted_submissions(name: str) -> None:
    """Those whose points are stated were left out: eleven of transfer_learning."""
    assignment = COURSE.assignment(name)
    folder = COURSE.root / "fixtures" / name / "submissions" / "accepted"
    broken = {example.name for example in accepted(example_submissions(COURSE, assignment), assignment)}
    assert broken == {"key", *(f"accepted/{path.name}" for path in folder.iterdir())}
