"""Counts of tuned parameters, against transformers' models and peft's adapters on random configurations."""

import numpy as np
import pytest
import torch
import transformers

from reference.adaptation.parameter_counts import (
    dense_head_params,
    head_params,
    key_value_prefix_params,
    lora_params,
    prefix_params,
)


def count(module: torch.nn.Module, only_trainable: bool = False) -> int:
    return sum(p.numel() for p in module.parameters() if p.requires_grad or not only_trainable)


def roberta(d: int, C: int, layers: int = 1) -> "transformers.RobertaForSequenceClassification":
    config = transformers.RobertaConfig(
        vocab_size=11, hidden_size=d, num_hidden_layers=layers, num_attention_heads=2, intermediate_size=2 * d,
        num_labels=C, max_position_embeddings=40,
    )  # fmt: skip
    return transformers.RobertaForSequenceClassification(config)


@pytest.mark.parametrize(("d", "C"), [(2, 2), (8, 3), (768, 2)])
def test_linear_head(d: int, C: int) -> None:
    assert head_params(d, C) == count(torch.nn.Linear(d, C))


@pytest.mark.parametrize(("l", "d", "C"), [(128, 768, 2), (1, 4, 2), (7, 16, 5)])
def test_vectors_and_head(l: int, d: int, C: int) -> None:  # noqa: E741
    assert prefix_params(l, d, C) == count(torch.nn.ModuleList([torch.nn.Embedding(l, d), torch.nn.Linear(d, C)]))


@pytest.mark.parametrize(("d", "C"), [(4, 2), (8, 3)])
def test_heads_of_transformers(d: int, C: int) -> None:
    assert count(roberta(d, C).classifier) == dense_head_params(d, C)
    config = transformers.DistilBertConfig(vocab_size=11, dim=d, n_layers=1, n_heads=2, hidden_dim=2 * d, num_labels=C)
    model = transformers.DistilBertForSequenceClassification(config)
    assert count(model.pre_classifier) + count(model.classifier) == dense_head_params(d, C)


# peft asks for a property that transformers has renamed
@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing` is deprecated:FutureWarning")
@pytest.mark.parametrize(("l", "d", "layers"), [(3, 4, 1), (5, 8, 3)])
def test_prompt_and_prefix_tuning_of_peft(l: int, d: int, layers: int) -> None:  # noqa: E741
    """peft's PromptTuning is the course's prefix; its PrefixTuning has keys and values in every layer."""
    import peft  # late: collecting all tests need not wait for it

    head = dense_head_params(d, 2)
    prompt = peft.PromptTuningConfig(task_type="SEQ_CLS", num_virtual_tokens=l)
    assert count(peft.get_peft_model(roberta(d, 2, layers), prompt), only_trainable=True) == l * d + head
    prefix = peft.PrefixTuningConfig(task_type="SEQ_CLS", num_virtual_tokens=l)
    adapted = peft.get_peft_model(roberta(d, 2, layers), prefix)
    assert count(adapted, only_trainable=True) == key_value_prefix_params(l, d, layers) + head


def test_lora_of_peft() -> None:
    import peft  # late: collecting all tests need not wait for it

    rng = np.random.default_rng(0)
    for d, n in rng.integers(2, 12, (4, 2)).tolist():
        layer = torch.nn.Sequential(torch.nn.Linear(d, d))
        adapted = peft.get_peft_model(layer, peft.LoraConfig(r=n, target_modules=["0"]))
        assert count(adapted, only_trainable=True) == lora_params(d, n)
