"""Which libraries a sandbox imports ahead of every submission, as the author's code tells."""

import hashlib

import pytest

from bench.small_course import cell, notebook
from viva.model.submission import File, Submission
from viva.submissions.code_imports import imported, imported_by, preloads


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
        ({"solution_py": "import numpy as np\nimport json, os.path\nfrom collections import Counter"}, {"numpy"}),
        ({"solution_py": "import numpy\n", "answers_yaml": "import: torch"}, {"numpy"}),
        ({"solution_py": "import helpers\nfrom . import helpers", "helpers_py": "import math"}, set()),
        ({"solution_py": "from parts.one import f", "parts__one_py": "f = len"}, set()),
        ({"solution_py": "import torch"}, {"torch"}),
        ({"solution_py": "def f():\n    from torch.nn import functional"}, {"torch"}),
        ({"solution_py": "import os, torch"}, {"torch"}),
        ({"solution_py": "import helpers", "helpers_py": "import torch"}, {"torch"}),
        ({"solution_py": "import importlib\nm = importlib.import_module('to' 'rch')"}, None),
        ({"solution_py": "__import__('torch')"}, None),
        ({"solution_py": "import numpy as np\n1 +"}, None),
        ({"solution_py": "import numpy", "more_zip": "PK"}, None),
        ({"homework_ipynb": notebook([cell("a", "%matplotlib inline\nimport numpy")])}, {"numpy", "matplotlib"}),
        ({"solution_py": "import json\n# %matplotlib inline"}, set()),
        ({"homework_ipynb": notebook([cell("a", "import numpy"), cell("b", "import torch")])}, {"numpy", "torch"}),
        ({"homework_ipynb": "{"}, None),
    ],
)
def test_libraries_that_code_imports_are_known_unless_it_may_import_any(
    files: dict[str, str], expected: set[str] | None
) -> None:
    assert imported_by(submission(**files)) == expected
