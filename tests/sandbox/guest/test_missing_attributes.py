"""Names that the student's code uses and an installed library lacks; other causes of such errors are not reported."""

import sys

import numpy as np
import pytest

from tests.support.bare_worker import Worker

OLD_LIBRARY = """
import types

class Tokenizer:
    def encode(self, text): return text
    def __getattr__(self, name): raise AttributeError(f"Tokenizer has no attribute {name}")
class Encoding(dict):
    def __getattr__(self, name): raise AttributeError(name)
class Arguments:
    def __init__(self, folder, eval_strategy="no"): self.folder = folder
def load(path): return path
def wrong(): return types.not_there
def calls(function): return function(extra=1)
__version__ = "5.23.0"
"""
STUDENTS = """
import argparse, collections, sys
import numpy as np
sys.path.append("site-packages")
import tokens as tk
from tokens import Arguments, Tokenizer
tokenizer = Tokenizer()
class Mine(Tokenizer):
    pass
class Hostile:
    @property
    def __class__(self): raise OSError
    def __getattribute__(self, name): raise OSError
class Forged(AttributeError):
    name, obj = property(lambda self: 1 / 0), property(lambda self: 1 / 0)
def mine(x): return x
"""
PYTHON = ".".join(str(part) for part in sys.version_info[:3])
TOKENS, NUMPY = ("tokens", "5.23.0"), ("numpy", np.__version__)


@pytest.fixture
def student(worker: Worker) -> Worker:
    """A student next to an installed library, in a folder called site-packages outside the work directory."""
    folder = worker.work.parent / f"{worker.work.name}_library" / "site-packages"
    folder.mkdir(parents=True)
    (folder / "tokens.py").write_text(OLD_LIBRARY)
    worker.define(STUDENTS.replace('"site-packages"', repr(str(folder))))
    return worker


@pytest.mark.parametrize(
    ("statement", "library", "name"),
    [
        ("tokenizer.encode_plus('a')", TOKENS, "encode_plus"),
        ("tk.Tokenizer.from_pretrain('a')", TOKENS, "from_pretrain"),
        ("tk.tokenise('a')", TOKENS, "tokenise"),
        ("from tokens import AdamW", TOKENS, "AdamW"),
        ("import tokens.old", TOKENS, "tokens.old"),
        ("from tokens.old import AdamW", TOKENS, "tokens.old"),
        ("tk.load('a', cache=True)", TOKENS, "load(cache=…)"),
        ("Arguments('a',\n      evaluation_strategy='no')", TOKENS, "Arguments(evaluation_strategy=…)"),
        ("tokenizer.encode('a', pad=True)", TOKENS, "encode(pad=…)"),
        ("np.float(1)", NUMPY, "float"),
        ("np.product([1])", NUMPY, "product"),
        ("from numpy import product", NUMPY, "product"),
        ("np.linalg.nosuch", NUMPY, "numpy.linalg.nosuch"),
        ("np.zeros(2, typ=int)", NUMPY, "zeros(typ=…)"),
        ("collections.Mapping", ("Python", PYTHON), "Mapping"),
        ("from collections import Mapping", ("Python", PYTHON), "Mapping"),
        ("import time; time.clock()", ("Python", PYTHON), "clock"),
    ],
)
def test_lacking_library_is_named(student: Worker, statement: str, library: tuple[str, str], name: str) -> None:
    [error] = student.load(f"from solution import *\n{statement}", "more.py")["errors"]
    assert error["lacking"] == {"library": library[0], "version": library[1], "name": name}


@pytest.mark.parametrize(
    "statement",
    [
        "import no_such_module",
        "import solution2",
        "from solution import nothing",
        "import solution; solution.nothing",
        "Mine().encode_plus('a')",  # the class is the student's
        "mine(y=1)",
        "tk.calls(mine)",  # raised between library and student
        "tk.wrong()",  # the library's own line
        "tk.Encoding().logits",
        "np.zeros(2).dim()",  # an array taken for a tensor
        "np.float64(1).item().append(1)",
        "np.zeros(2).sum(dim=1)",
        "[].add(1)",
        "None.name",
        "argparse.Namespace(a=1).b",
        "tk.load()",
        "tk.load(*[], **{'path': 1, 'cache': 2})",  # the argument is not in the line
        "raise AttributeError",
        "raise AttributeError(3)",
        "raise AttributeError('no such words')",
        "raise Forged('x')",
        "raise TypeError(\"unexpected keyword argument 'x'\")",
        "Hostile().f(x=1)",
        "1 / 0",
    ],
)
def test_other_mistakes_lack_nothing(student: Worker, statement: str) -> None:
    [error] = student.load(f"from solution import *\nfrom solution import np, tk, argparse\n{statement}", "more.py")[
        "errors"
    ]
    assert error["lacking"] is None


def test_lacking_in_cells_and_calls(student: Worker) -> None:
    cells = student.notebook("import numpy as np", "def f(x): return np.zeros(2, typ=x)", "np.product([2])")
    assert cells[2]["raised"]["lacking"]["name"] == "product"
    assert student.call_raises("f", 3)["lacking"]["name"] == "zeros(typ=…)"


def test_failed_import_shows_no_path(worker: Worker) -> None:
    worker.define("def imports(): from numpy import fooo")
    assert worker.call_raises("imports")["message"] == "cannot import name 'fooo' from 'numpy'"
