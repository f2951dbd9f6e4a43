"""Whether a split is seeded, read from the source of students' programs."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.table_rows import Rows
from viva.plugins.training.audits import audit_seeds

HEAD = """
import random, torch
import numpy as np
import torch.utils.data as tud
from datasets import load_dataset
from sklearn.model_selection import train_test_split, KFold, StratifiedShuffleSplit
from torch.utils.data import DataLoader, random_split
from transformers import set_seed
"""


def findings(*lines: str) -> list[str]:
    return [finding.text for finding in audit_seeds({"a.py": HEAD + "\n".join(lines)})]


UNSEEDED = [
    "rows = load_dataset('boolq').shuffle()",
    "rows = rows.shuffle(seed=None)",
    "rows = rows.train_test_split(0.1)",
    "a, b = random_split(rows, [8000, 1427])",
    "a, b = random_split(rows, [8000, 1427], None)",
    "a, b = torch.utils.data.random_split(rows, [.9, .1])",
    "a, b = tud.random_split(rows, [.9, .1])",
    "a, b = train_test_split(rows, test_size=0.1, random_state=None)",
    "order = torch.randperm(len(rows))",
    "np.random.shuffle(rows)",
    "order = np.random.permutation(10)",
    "random.shuffle(rows)",
    "frame = frame.sample(frac=1)",
    "folds = KFold(5, shuffle=True)",
    "folds = StratifiedShuffleSplit(5)",
]
SEEDED = [
    "rows = rows.shuffle(seed=42)",
    "rows = rows.shuffle(42)",
    "rows = rows.shuffle(**settings)",
    "rows = rows.train_test_split(0.1, seed=1)",
    "rows = rows.train_test_split(0.1, shuffle=False)",
    "a, b = random_split(rows, [8000, 1427], generator=torch.Generator().manual_seed(1))",
    "a, b = random_split(rows, [8000, 1427], torch.Generator().manual_seed(1))",
    "a, b = train_test_split(rows, random_state=0)",
    "order = torch.randperm(9, generator=g)",
    "rng = np.random.default_rng(0); rng.shuffle(rows)",
    "random.Random(0).shuffle(rows)",
    "loader = DataLoader(rows, shuffle=True)",
    "folds = KFold(5)",
    "folds = KFold(5, shuffle=True, random_state=1)",
    "action = policy.sample()",
    "self.shuffle()",
]


def test_unseeded_split_is_found() -> None:
    with Rows() as row:
        for line in UNSEEDED:
            with row(line):
                (text,) = findings(line)
                assert text.startswith("a.py, line 9: `") and "has no seed" in text and "write `" in text


def test_seeded_split_is_not_reported() -> None:
    with Rows() as row:
        for line in SEEDED:
            with row(line):
                assert findings(line) == []


def test_seed_for_everything() -> None:
    with Rows() as row:
        for seed in ["set_seed(1)", "transformers.set_seed(1)", "pl.seed_everything()"]:
            for line in UNSEEDED:
                with row(seed, line):
                    assert findings(seed, line) == []


@pytest.mark.parametrize(
    ("seed", "line", "is_enough"),
    [
        ("torch.manual_seed(1)", "random_split(rows, [1, 2])", True),
        ("torch.manual_seed(1)", "train_test_split(rows)", False),
        ("np.random.seed(1)", "train_test_split(rows)", True),
        ("np.random.seed(1)", "rows.shuffle()", True),
        ("random.seed(1)", "rows.shuffle()", False),
        ("random.seed(1)", "random.shuffle(rows)", True),
        ("random.seed()", "random.shuffle(rows)", False),
        ("np.random.seed(1)", "random.shuffle(rows)", False),
        ("def fix(s):\n    torch.manual_seed(s)", "random_split(rows, [1, 2])", True),
    ],
)
def test_global_seed(seed: str, line: str, is_enough: bool) -> None:
    assert (findings(seed, line) == []) == is_enough


def test_seed_in_another_file() -> None:
    assert audit_seeds({"main.py": HEAD + "set_seed(3)", "data.py": HEAD + UNSEEDED[0]}) == []


def test_own_function() -> None:
    assert findings("def train_test_split(rows): return rows[:9], rows[9:]", "train_test_split(rows)") == []


def test_finding_in_a_notebook_names_its_cell() -> None:
    cells = ["%matplotlib inline\nimport torch", "this is no Python", "!pip install x", "torch.randperm(5)"]
    notebook = {
        "nbformat": 4, "nbformat_minor": 5, "metadata": {},
        "cells": [{"cell_type": "code", "source": text, "metadata": {}, "outputs": []} for text in cells],
    }  # fmt: skip
    (finding,) = audit_seeds({"hw.ipynb": json.dumps(notebook)})
    assert finding.text.startswith("hw.ipynb, cell 4: `torch.randperm(5)` has no seed")


@pytest.mark.parametrize(
    "text",
    ["def f(:", "x" + ".a" * 200_000, "-" * 100_000 + "1", "(" * 100_000, "f" + "()" * 100_000, "\0", "{",
     "1 +" * 100_000 + "1", "lambda:" * 50_000 + "1"],
    ids=range(9),
)  # fmt: skip
def test_no_python(text: str) -> None:
    (finding,) = audit_seeds({"a.py": text})
    assert finding.kind == "no_source"


def test_long_findings() -> None:
    (text,) = findings("random_split([" + "1, " * 100_000 + "], [1, 2])")
    assert "`torch.utils.data.random_split(…)`" in text and len(text) < 300
    assert len(findings(*["torch.randperm(5)"] * 1000)) == 10


@given(
    st.text(max_size=80) | st.lists(st.sampled_from([*UNSEEDED, "if x:", "  ", "(", "'''", "%", "\\"])).map("\n".join)
)
def test_any_source(text: str) -> None:
    for finding in audit_seeds({"a.py": text, "b.ipynb": "{" + text}):
        assert len(finding.text) < 500
