"""reference/bert/encoder.py against Hugging Face's BERT."""

from typing import Any

import numpy as np
import pytest
import torch
import transformers

from reference.bert.encoder import draw_weights, embed, encode, pool

V, D, LAYERS, D_FF, POSITIONS, HEADS = 11, 8, 2, 12, 20, 2


@pytest.fixture(scope="module")
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


@pytest.fixture(scope="module")
def weights(rng: np.random.Generator) -> dict[str, np.ndarray]:
    return draw_weights(rng, V, D, LAYERS, D_FF, POSITIONS)


@pytest.fixture(scope="module")
def bert(weights: dict[str, np.ndarray]) -> Any:
    config = transformers.BertConfig(
        vocab_size=V,
        hidden_size=D,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=D_FF,
        max_position_embeddings=POSITIONS,
    )
    model: Any = transformers.BertModel(config).double()
    model.eval()
    assert {name: tuple(value.shape) for name, value in model.named_parameters()} == {
        name: value.shape for name, value in weights.items()
    }
    model.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()}, strict=False)
    return model


def masks(rng: np.random.Generator, batch: int, tokens: int) -> np.ndarray:
    """Right-padded rows, each with a token at least."""
    return (np.arange(tokens) < rng.integers(1, tokens + 1, size=(batch, 1))).astype(int)


@pytest.mark.parametrize(("batch", "tokens"), [(1, 1), (1, 5), (3, 4), (4, 12)])
def test_encoder_equals_hugging_face(
    bert: "transformers.BertModel", weights: dict[str, np.ndarray], rng: np.random.Generator, batch: int, tokens: int
) -> None:
    ids, mask = rng.integers(V, size=(batch, tokens)), masks(rng, batch, tokens)
    with torch.no_grad():
        expected = bert(input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask))
    hidden = encode(weights, embed(weights, ids), mask, HEADS)
    np.testing.assert_allclose(hidden[mask == 1], expected.last_hidden_state.numpy()[mask == 1], atol=1e-10)
    np.testing.assert_allclose(pool(weights, hidden), expected.pooler_output.numpy(), atol=1e-10)


def test_padded_words_do_not_matter(weights: dict[str, np.ndarray], rng: np.random.Generator) -> None:
    ids, mask = rng.integers(V, size=(2, 6)), np.array([[1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 0]])
    other = np.where(mask == 1, ids, (ids + 1) % V)
    one, two = (encode(weights, embed(weights, words), mask, HEADS) for words in (ids, other))
    np.testing.assert_array_equal(one[mask == 1], two[mask == 1])
