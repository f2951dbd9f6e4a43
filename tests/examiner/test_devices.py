"""A submission written for an accelerator, graded on the CPU: a module and a notebook with a model of transformers.

What becomes of each call of torch is tested in tests/sandbox/guest/test_devices.py.
"""

import pytest

from tests.support.course_of_texts import Examined, statuses, write_course
from tests.support.words_course import notebook

TESTS = """
def test_vector(student):
    assert student.vector([1, 2, 3]).shape == (16,)

def test_where(student):
    assert student.where() == "cpu"
"""
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


def where():
    return model.device.type
"""


@pytest.mark.long
@pytest.mark.parametrize("device", ["cpu", "as_written"])
def test_model_on_an_accelerator(device: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    settings = f"device: {device}\nlimits: {{call_s: 20, load_s: 30}}\n"
    root = tmp_path_factory.mktemp(f"device_{device}")
    with Examined(
        write_course(root, tests=TESTS, key="", settings=settings, preload="torch, transformers")
    ) as examined:
        for files in ({"solution.py": BERT}, {"hw.ipynb": notebook(*BERT.split("\n\n\n"))}):
            score = examined.score(files)
            passed = [status == "passed" for status in statuses(score).values()]
            assert passed == [device == "cpu"] * 2, score.notes
