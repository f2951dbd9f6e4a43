"""Which libraries a sandbox imports ahead of every submission, as the author's code tells."""

import hashlib

import pytest

from bench.small_course import cell, notebook
from viva.model.submission import File, Submission
from viva.submissions.code_imports import imported, imports_only, preloads


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import numpy as np", ["numpy?"]),
        ("import json, os", []),
        ("import scipy.stats", ["scipy?", "scipy.stats?"]),
        ("from scipy import stats, no_such_part", ["scipy?", "scipy.stats?"]),
        ("from scipy.stats import norm", ["scipy?", "scipy.stats?"]),
        ("%matplotlib inline\nimport numpy\n!pip install torch", ["numpy?"]),
        ("%%time\nimport numpy", ["numpy?"]),
        ("def f():\n    import numpy", ["numpy?"]),
        ("from . import numpy", []),
        ("import numpy\nnot valid Python", []),
        ("from numpy import array", ["numpy?"]),
    ],
)
def test_libraries_that_take_long_are_found(source: str, expected: list[str]) -> None:
    assert preloads([source]) == expected


def test_each_library_is_named_once_and_numpy_comes_first() -> None:
    assert preloads(["import torch", "import numpy\nimport torch.nn", "import torch"]) == [
        "numpy?",
        "torch?",
        "torch.nn?",
    ]


def test_imported_modules_have_their_full_names() -> None:
    assert imported("import a.b as c, d\nfrom e.f import g\nfrom .h import i") == ["a.b", "d", "e.f"]


def submission(**files: str) -> Submission:
    """Files by their names, with `_py` and `_ipynb` for the endings."""
    found = tuple(File(name.replace("__", "/").replace("_", "."), text.encode()) for name, text in files.items())
    return Submission("a", found, hashlib.sha256(repr(found).encode()).hexdigest())


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"solution_py": "import numpy as np\nimport json, os.path\nfrom collections import Counter"}, True),
        ({"solution_py": "import numpy\n", "answers_yaml": "import: torch"}, True),
        ({"solution_py": "import helpers\nfrom . import helpers", "helpers_py": "import math"}, True),
        ({"solution_py": "from parts.one import f", "parts__one_py": "f = len"}, True),
        ({"solution_py": "import torch"}, False),
        ({"solution_py": "def f():\n    import torch"}, False),
        ({"solution_py": "import os, torch"}, False),
        ({"solution_py": "import helpers", "helpers_py": "import torch"}, False),
        ({"solution_py": "import importlib\nm = importlib.import_module('to' 'rch')"}, False),
        ({"solution_py": "__import__('torch')"}, False),
        ({"solution_py": "import numpy as np\n1 +"}, False),
        ({"solution_py": "import numpy", "more_zip": "PK"}, False),
        ({"homework_ipynb": notebook([cell("a", "%matplotlib inline\nimport numpy")])}, True),
        ({"homework_ipynb": notebook([cell("a", "import numpy"), cell("b", "import torch")])}, False),
        ({"homework_ipynb": "{"}, False),
    ],
)
def test_a_library_is_needed_unless_the_code_says_that_it_is_not(files: dict[str, str], expected: bool) -> None:
    assert imports_only(submission(**files), ("numpy",)) is expected
