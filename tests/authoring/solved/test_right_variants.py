"""No right answer loses a point: three other programs for each function pass every proposed test."""

import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.support.solved_course import VARIANTS, taken_over
from tests.support.student_in_process import InProcess
from tests.support.table_rows import Rows
from viva.authoring.source.starter import read_source
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
