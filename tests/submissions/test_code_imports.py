"""Which libraries a sandbox imports ahead of every submission, as the author's code tells."""

import pytest

from viva.submissions.code_imports import imported, preloads


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
