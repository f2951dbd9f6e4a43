"""reference/adaptation/soft_prompt.py against peft's prompt tuning on Hugging Face's BERT, values and gradients."""

import numpy as np
import pytest
import torch
import transformers

from reference.adaptation.soft_prompt import TUNED, add_soft_prompt
from reference.bert.encoder import draw_weights, embed, encode

V, D, LAYERS, D_FF, POSITIONS, HEADS, LENGTH = 11, 8, 2, 12, 20, 2, 5


@pytest.mark.filterwarnings(
    "ignore:`is_gradient_checkpointing`:FutureWarning"
)  # peft asks transformers by its old name
def test_equals_pefts_prompt_tuning() -> None:
    from peft import PromptTuningConfig, TaskType, get_peft_model  # late: collecting all tests need not wait for it

    """The same hidden states, and the prompt alone gets a gradient."""
    rng = np.random.default_rng(5)
    weights = draw_weights(rng, V, D, LAYERS, D_FF, POSITIONS)
    config = transformers.BertConfig(
        vocab_size=V,
        hidden_size=D,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=D_FF,
        max_position_embeddings=POSITIONS,
    )
    bert = transformers.BertModel(config).double()  # before the weights: float32 would round them
    bert.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()}, strict=False)
    adapted = get_peft_model(bert, PromptTuningConfig(task_type=TaskType.FEATURE_EXTRACTION, num_virtual_tokens=LENGTH))
    adapted = adapted.double().eval()
    trained = [parameter for parameter in adapted.parameters() if parameter.requires_grad]
    assert [tuple(parameter.shape) for parameter in trained] == [(LENGTH, D)]

    ids, mask = rng.integers(V, size=(3, 6)), np.array([[1] * 6, [1, 1, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0]])
    output = adapted(input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask)).last_hidden_state
    with_prompt, read = add_soft_prompt(embed(weights, ids), mask, trained[0].detach().numpy())
    hidden = encode(weights, with_prompt, read, HEADS)
    np.testing.assert_allclose(hidden[read == 1], output.detach().numpy()[read == 1], atol=1e-10)

    output[:, 0].sum().backward()
    assert all((parameter.grad is None) == (parameter is not trained[0]) for parameter in adapted.parameters())
    assert trained[0].grad is not None and float(trained[0].grad.abs().min()) > 0


def test_the_gradient_of_the_prompt_is_the_sum_over_the_texts() -> None:
    """Each text reads the same prompt: finite differences of a sum of squares."""
    rng = np.random.default_rng(6)
    words, mask = rng.standard_normal((3, 2, 2)), np.ones((3, 2))
    prompt, step = rng.standard_normal((2, 2)), 1e-6
    moved = prompt.copy()
    moved[1, 0] += step
    before, after = (np.square(add_soft_prompt(words, mask, p)[0]).sum() for p in (prompt, moved))
    assert (after - before) / step == pytest.approx(3 * 2 * prompt[1, 0], abs=1e-4)


def test_shapes_and_mask() -> None:
    embeddings, mask = add_soft_prompt(np.zeros((2, 3, 4)), [[1, 1, 0], [1, 0, 0]], np.ones((2, 4)))
    assert embeddings.shape == (2, 5, 4)
    assert embeddings[:, :2].min() == 1 and embeddings[:, 2:].max() == 0
    assert mask.tolist() == [[1, 1, 1, 1, 0], [1, 1, 1, 0, 0]]


def test_without_a_prompt_nothing_changes() -> None:
    embeddings, mask = add_soft_prompt(np.ones((1, 2, 3)), [[1, 0]], np.zeros((0, 3)))
    assert embeddings.tolist() == np.ones((1, 2, 3)).tolist() and mask.tolist() == [[1, 0]]


def test_every_way_tunes_the_head() -> None:
    assert all("head" in parts for parts in TUNED.values()) and list(TUNED) == ["full", "head", "prefix"]
