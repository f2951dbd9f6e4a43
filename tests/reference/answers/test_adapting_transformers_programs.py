"""What errata.md says about the starter of adapting_transformers, computed again."""

import ast
from pathlib import Path

import numpy as np
import torch
import transformers

from reference.adaptation.soft_prompt_classifier import classifier_logits
from reference.bert.encoder import draw_weights

STARTER = Path(__file__).parents[3] / "assignments" / "adapting_transformers" / "starter"


def rates(optimizer: torch.optim.Optimizer, scheduled: torch.optim.Optimizer, steps: int) -> list[float]:
    """The learning rates of an optimizer's steps under the course's schedule for another, or the same."""
    schedule = transformers.get_scheduler("linear", optimizer=scheduled, num_warmup_steps=50, num_training_steps=steps)
    found = []
    for _ in range(steps):
        found.append(optimizer.param_groups[0]["lr"])
        scheduled.step()
        optimizer.step()
        schedule.step()
    return found


def adamw() -> torch.optim.Optimizer:
    return torch.optim.AdamW([torch.nn.Parameter(torch.ones(1))], lr=1e-4)


def test_twenty_steps_never_reach_the_rate_that_was_asked_for() -> None:
    optimizer = adamw()
    np.testing.assert_allclose(rates(optimizer, optimizer, 20), [1e-4 * step / 50 for step in range(20)])


def test_the_schedule_of_one_optimizer_leaves_another_alone() -> None:
    assert set(rates(adamw(), adamw(), 20)) == {1e-4}


def test_one_text_with_a_separator_is_read_as_a_pair_but_for_segments() -> None:
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "is", "it", "old", "the", "river"]
    tokenizer = transformers.BertTokenizerFast(vocab={word: place for place, word in enumerate(words)})
    one, pair = tokenizer("is it old [SEP] the river"), tokenizer("is it old", "the river")
    assert one["input_ids"] == pair["input_ids"]
    assert one["token_type_ids"] != pair["token_type_ids"]


def test_the_mean_of_all_states_depends_on_padding_and_others_do_not() -> None:
    rng = np.random.default_rng(4)
    weights = draw_weights(rng, 11, 8, 2, 12, 20)
    W, b, ids = rng.standard_normal((2, 8)), rng.standard_normal(2), rng.integers(1, 11, (1, 4))
    short = classifier_logits(weights, ids, np.ones((1, 4)), W, b)
    mask = np.array([[1, 1, 1, 1, 0, 0, 0]])
    padded = classifier_logits(weights, np.pad(ids, ((0, 0), (0, 3))), mask, W, b)
    same = {name for name in short if np.allclose(short[name], padded[name], atol=1e-9)}
    assert same == set(short) - {"mean", "mean of the text"}


def test_the_starter_has_the_gaps_that_the_errata_name() -> None:
    """The typo is the course's; the model has no name `head`, and `prefix_length` is set below `__main__` alone."""
    for name in ("base_classification.py", "classification.py"):
        tree = ast.parse((STARTER / name).read_text("utf-8"))
        train = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "train")
        assert [argument.arg for argument in train.args.args][4] == "test_dataloder"
    source = (STARTER / "classification.py").read_text("utf-8")
    before_main, main = source.split('if __name__ == "__main__":')
    assert "prefix_length = " not in before_main and "prefix_length = " in main
    assert "self.head" not in source and "self.classifier" in source
