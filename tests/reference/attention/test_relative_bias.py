"""reference/attention/relative_bias.py against concatenation in torch; its counts against enumeration."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from reference.attention.relative_bias import (
    attention_with_bias,
    position_bias,
    relative_bias_params,
    unnormalised_attention_with_bias,
)

Array = NDArray[np.float64]


def matrices(rng: np.random.Generator, n: int, m: int, d: int, dv: int) -> tuple[Array, Array, Array]:
    return rng.standard_normal((n, d)), rng.standard_normal((m, d)), rng.standard_normal((m, dv))


def torch_attention(Q: Array, K: Array, V: Array, mask: Array | None = None, scale: float = 1.0) -> Array:
    q, k, v = (torch.from_numpy(matrix)[None] for matrix in (Q, K, V))
    bias = None if mask is None else torch.from_numpy(mask)[None]
    result: Array = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=scale)[0].numpy()
    return result


def test_equals_torch_with_a_float_mask() -> None:
    """torch adds a float mask to the scaled scores, which is what a bias is."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        n, m, d, dv = (int(size) for size in rng.integers(1, 8, 4))
        Q, K, V = matrices(rng, n, m, d, dv)
        Pi = rng.standard_normal((n, m))
        for scale in (1.0, d**-0.5):
            expected = torch_attention(Q, K, V, Pi, scale)
            np.testing.assert_allclose(attention_with_bias(Q, K, V, Pi, scale), expected, atol=1e-12)


def test_a_bias_does_what_concatenated_positions_do() -> None:
    """004-c(i): Π = Q_pos K_posᵀ, for any dimension of the position embeddings."""
    rng = np.random.default_rng(2)
    for d_pos in (1, 3, 8):
        Q, K, V = matrices(rng, 5, 7, 4, 3)
        Q_pos, K_pos = rng.standard_normal((5, d_pos)), rng.standard_normal((7, d_pos))
        concatenated = torch_attention(np.hstack([Q, Q_pos]), np.hstack([K, K_pos]), V)
        biased = attention_with_bias(Q, K, V, position_bias(Q_pos, K_pos))
        np.testing.assert_allclose(biased, concatenated, atol=1e-12)


def test_gradients_of_bias_and_concatenation_agree() -> None:
    """What Q, K and V learn is the same as well: autograd through both forms."""
    rng = np.random.default_rng(3)
    arrays = [*matrices(rng, 4, 4, 3, 2), rng.standard_normal((4, 2)), rng.standard_normal((4, 2))]
    gradients = []
    for concatenates in (True, False):
        Q, K, V, Q_pos, K_pos = leaves = [torch.from_numpy(array.copy()).requires_grad_() for array in arrays]
        queries, keys = (torch.cat([Q, Q_pos], 1), torch.cat([K, K_pos], 1)) if concatenates else (Q, K)
        scores = queries @ keys.T + (0 if concatenates else Q_pos @ K_pos.T)
        (scores.softmax(1) @ V).square().sum().backward()
        gradients.append([leaf.grad for leaf in leaves])
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("T", range(1, 9))
@pytest.mark.parametrize("m", [1, 3])
def test_counts_equal_the_number_of_distinct_differences(T: int, m: int) -> None:
    pairs = [(i, j) for i in range(T) for j in range(T)]
    assert relative_bias_params(T, m) == m * len({i - j for i, j in pairs}) == (2 * T - 1) * m
    assert relative_bias_params(T, m, causal=True) == m * len({i - j for i, j in pairs if j <= i}) == T * m
    for clip in range(T + 3):
        clipped = {max(-clip, min(clip, i - j)) for i, j in pairs}
        assert relative_bias_params(T, m, clip=clip) == m * len(clipped)
        past = {min(clip, i - j) for i, j in pairs if j <= i}
        assert relative_bias_params(T, m, causal=True, clip=clip) == m * len(past)
        if clip < T:
            assert relative_bias_params(T, m, clip=clip) == (2 * clip + 1) * m


def test_a_published_model_learns_one_number_for_each_distance_and_head() -> None:
    """T5, whose biases are the source's; Shaw et al. learn vectors. T5 puts far distances into common buckets."""
    from transformers import T5Config
    from transformers.models.t5.modeling_t5 import T5Attention

    config = T5Config(d_model=8, d_kv=4, num_heads=2, relative_attention_num_buckets=32)
    table = T5Attention(config, has_relative_attention_bias=True).relative_attention_bias.weight
    assert table.shape == (32, 2)


class TestErrata:
    """What the source prints for (c)."""

    def test_the_printed_sum_is_not_normalised(self) -> None:
        """Each row of a_ij = Σ_j e^{π_ij} e^{q_i k_j} v_j lacks the denominator of softmax."""
        rng = np.random.default_rng(4)
        Q, K, V = matrices(rng, 4, 5, 3, 2)
        Pi = rng.standard_normal((4, 5))
        printed = unnormalised_attention_with_bias(Q, K, V, Pi)
        denominator = unnormalised_attention_with_bias(Q, K, np.ones((5, 1)), Pi)
        np.testing.assert_allclose(printed / denominator, attention_with_bias(Q, K, V, Pi), atol=1e-12)
        np.testing.assert_allclose(attention_with_bias(Q, K, np.ones((5, 1)), Pi), 1)
        assert (denominator > 1.5).all()

    def test_the_bias_is_a_factor_of_the_weight_before_normalising(self) -> None:
        """That e^π scales each weight is right: the weights are those without bias times e^π, normalised."""
        rng = np.random.default_rng(5)
        Q, K, _ = matrices(rng, 3, 4, 2, 1)
        Pi = rng.standard_normal((3, 4))
        plain = attention_with_bias(Q, K, np.eye(4), np.zeros((3, 4)))
        scaled = plain * np.exp(Pi)
        biased = attention_with_bias(Q, K, np.eye(4), Pi)
        np.testing.assert_allclose(biased, scaled / scaled.sum(axis=1, keepdims=True), atol=1e-12)

    def test_concatenating_changes_the_usual_scale(self) -> None:
        """The width grows from d to d + d_pos, so 1/√d must be kept by hand for the identity to hold."""
        rng = np.random.default_rng(6)
        Q, K, V = matrices(rng, 4, 4, 3, 2)
        Q_pos, K_pos = rng.standard_normal((4, 3)), rng.standard_normal((4, 3))
        wide = np.hstack([Q, Q_pos]), np.hstack([K, K_pos])
        Pi = position_bias(Q_pos, K_pos)
        own_scale, kept_scale = torch_attention(*wide, V, scale=6**-0.5), torch_attention(*wide, V, scale=3**-0.5)
        biased = attention_with_bias(Q, K, V, Pi * 3**-0.5, scale=3**-0.5)
        np.testing.assert_allclose(biased, kept_scale, atol=1e-12)
        assert np.abs(biased - own_scale).max() > 1e-2
