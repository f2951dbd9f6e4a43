"""A submission written for an accelerator, graded on the CPU: a module and a notebook with a model of transformers."""

import json
from collections.abc import Iterator

import pytest

from tests.support.course_of_texts import Examined, by_name, write_course

TESTS = '''
from viva.grading import agree, number, weight


@weight(1)
@number("1")
def test_vector(student, key):
    """The vector has sixteen numbers."""
    agree(student.vector([1, 2, 3]).shape, key.vector([1, 2, 3]))


@weight(1)
@number("2")
def test_positions(student):
    """The positions are counted from zero."""
    agree(student.positions(), list(range(8)))


@weight(1)
@number("3")
def test_where(student):
    """The model is on a device that is there."""
    assert student.where() == "cpu"
'''
KEY = "def vector(ids): return (16,)\n"
BERT = """
import torch
from transformers import BertConfig, BertModel

device = torch.device("cuda:0")
config = BertConfig(vocab_size=20, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
                    max_position_embeddings=8)
model = BertModel(config).to("cuda").eval()


def vector(ids):
    batch = {"input_ids": torch.tensor([ids], device=device), "attention_mask": torch.ones(1, len(ids)).cuda()}
    return model(**batch).last_hidden_state[0, 0].to("cuda")


def positions():
    return model.embeddings.position_ids[0].tolist()


def where():
    return model.device.type
"""


@pytest.fixture(scope="module", params=["cpu", "as_written"])
def graded_on(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Examined]]:
    """An examiner for each value of `device`."""
    settings = f"device: {request.param}\nlimits: {{call_s: 20, load_s: 30}}\n"
    root = tmp_path_factory.mktemp(f"device_{request.param}")
    course = write_course(root, tests=TESTS, key=KEY, settings=settings, preload="numpy, torch, transformers")
    examined = Examined(course)
    yield request.param, examined
    examined.process.close()


@pytest.mark.long
@pytest.mark.parametrize("form", ["module", "notebook"])
def test_a_model_on_an_accelerator(graded_on: tuple[str, Examined], form: str) -> None:
    device, examined = graded_on
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": text} for text in BERT.split("\n\n")]
    notebook = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    score = examined.score({"solution.py": BERT} if form == "module" else {"hw.ipynb": notebook})
    passed = {name: entry.status == "passed" for name, entry in by_name(score).items()}
    assert set(passed.values()) == {device == "cpu"}, [score.notes, by_name(score)]
