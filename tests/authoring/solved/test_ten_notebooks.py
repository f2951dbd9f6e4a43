"""Proposed tests of ten solved notebooks: right variants pass, and nearly every mutant loses points."""

import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.support.course_of_texts import best_tier
from tests.support.nightly_share import is_tonight
from tests.support.solved_course import NOTEBOOKS, VARIANTS, taken_over
from tests.support.student_in_process import InProcess
from tests.support.table_rows import Rows
from viva.config import load_course
from viva.plugins.authoring.source.starter import read_source
from viva.plugins.authoring.strength.strength import changed_lines
from viva.plugins.verify.mutants.mutant_trial import try_all
from viva.proxies.key import Key, load_key

pytestmark = pytest.mark.long


@pytest.mark.parametrize("name", [path.stem for path in sorted(VARIANTS.glob("*.py"))])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's own, of means of nothing
def test_right_variants_pass(name: str, tmp_path: Path) -> None:
    root, made = taken_over(name, tmp_path)
    key = Key(load_key(root / "graders" / name / "key.py", root))
    tests = ModuleType("tests")
    exec((made.folder / "tests.py").read_text("utf-8"), vars(tests))  # what viva proposed
    with Rows() as row:
        for place, cell in enumerate(read_source(VARIANTS / f"{name}.py"), 1):
            namespace: dict[str, Any] = {}
            exec(cell.source, namespace)  # a variant
            for test in [test for test_name, test in vars(tests).items() if test_name.startswith("test_")]:
                fixtures = {"student": InProcess(namespace), "key": key, "rng": np.random.default_rng(place)}
                wanted = inspect.signature(test).parameters
                if set(wanted) <= set(fixtures):
                    with row(f"variant {place}, {test.__name__}"):
                        test(**{name: fixtures[name] for name in wanted})


SECRET = b"ten notebooks need no secret of their own"
LEAST = 0.95
"""The share of mutants that are not equivalent, which the proposed tests have to notice."""
EQUIVALENT = {
    "dictionaries": {"for key, value in first.items():"},
    "in_place": {
        "for i in range( 0, len(items)):",
        "while j != 0 and items[j - 1] > item:",
        "while j > 0 and items[j - 1] >= item:",
    },
    "marked": {
        "predicted, labels = helper(predicted), labels",
        "predicted, labels = predicted, helper(labels)",
        "return float((labels == predicted).mean())",
    },
    "plots": {
        "axes.plot(range(1, len(losses) + 1), losses); axes.plot(range(1, len(losses) + 1), losses)",
        "axes.set_title(title); axes.set_title(title)",
    },
    "recursion": {"if items[middle] <= wanted:"},
    "sampling": {'return ["[MASK]" if random.random() <= rate else token for token in tokens]'},
    "structures": {"while i <= j:", "if False:"},
    "torch_layers": {"n = logits.size(- 2)", "n = logits.size(- 0)", "table = torch.ones(length, d)"},
    "words": {
        "return edit_distance(b[1:], a[1:])",
        "return 1 + min(edit_distance(a[1:], b), edit_distance(a, b[1:]), edit_distance(b[1:], a[1:]))",
        "return 1 + min(edit_distance(b, a[1:]), edit_distance(a, b[1:]), edit_distance(a[1:], b[1:]))",
        "return 1 + min(edit_distance(a[1:], b), edit_distance(b[1:], a), edit_distance(a[1:], b[1:]))",
        "return 1 + min(edit_distance(b[1:], a), edit_distance(b, a[1:]), edit_distance(b[1:], a[1:]))",
    },
}
"""Mutants that behave as the solution does, by notebook: the last line that is changed."""


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name", [path.stem for at, path in enumerate(sorted(NOTEBOOKS.glob("*.py"))) if is_tonight(at, 2)]
)
def test_mutants_of_a_solved_notebook(name: str, tmp_path: Path) -> None:
    root, made = taken_over(name, tmp_path)
    lines = [line for line in (made.folder / "tests.py").read_text("utf-8").splitlines() if line]
    assert len(lines) <= 12 * len(made.proposals) + 5
    verdicts, _ = try_all(load_course(root), load_course(root).assignment(name), best_tier(), SECRET)
    left = {proposal.name for _, proposal in made.left}
    verdicts = [verdict for verdict in verdicts if verdict.mutant.unit.name not in left]
    survived = [changed_lines(verdict.mutant.diff)[-1] for verdict in verdicts if verdict.kind == "survived"]
    unexpected = [line for line in survived if line.lstrip("+ ") not in EQUIVALENT.get(name, set())]
    decided = len(verdicts) - len(survived) + len(unexpected)
    assert len(unexpected) <= (1 - LEAST) * decided, "\n".join(unexpected)
