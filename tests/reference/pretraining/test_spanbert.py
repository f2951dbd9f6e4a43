"""reference/pretraining/spanbert.py against exact enumeration, chi-square, and torch."""

import itertools
import math

import numpy as np
import pytest
import torch

from reference.pretraining.spanbert import (
    gelu,
    gelu_tanh,
    layer_norm,
    sample_span_length,
    span_boundary_representation,
    span_length_distribution,
    span_mask,
    spanbert_loss,
)


class TestSpanLengths:
    def test_mean(self) -> None:
        """3.797 renormalised (the paper says 3.8); clipping at ten with min(ℓ, 10) would give 4.463."""
        lengths = np.arange(1, 11)
        assert round(float(lengths @ span_length_distribution()), 3) == 3.797
        untruncated = 0.2 * 0.8 ** np.arange(2000)
        assert round(float(np.minimum(np.arange(1, 2001), 10) @ untruncated), 3) == 4.463

    def test_distribution(self) -> None:
        """P(ℓ | ℓ ≤ 10), by exact enumeration."""
        geometric = np.array([0.2 * 0.8 ** (k - 1) for k in range(1, 11)])
        np.testing.assert_allclose(span_length_distribution(), geometric / (1 - 0.8**10), atol=1e-15)

    def test_samples(self) -> None:
        """20,000 draws; 9 degrees of freedom, critical value 27.88 at 0.1 %."""
        rng = np.random.default_rng(22)
        draws = [sample_span_length(0.2, 10, rng) for _ in range(20_000)]
        observed, expected = np.bincount(draws, minlength=11)[1:], 20_000 * span_length_distribution()
        assert ((observed - expected) ** 2 / expected).sum() < 27.88
        standard_error = math.sqrt(np.var(draws) / len(draws))
        assert abs(np.mean(draws) - 3.797) < 4 * standard_error


class TestSpanMask:
    words = tuple(["tok"] * size for size in (1, 2, 1, 3, 1, 1, 2, 1, 4, 1) * 12)
    tokens = sum(len(word) for word in words)

    def test_spans_spend_the_budget(self) -> None:
        rng = np.random.default_rng(23)
        for _ in range(100):
            spans = span_mask(self.words, 0.15, 0.2, 10, rng)
            masked = [word for start, end in spans for word in range(start, end + 1)]
            assert len(masked) == len(set(masked)) and min(masked) >= 0 and max(masked) < len(self.words)
            assert all(1 <= end - start + 1 <= 10 for start, end in spans)
            costs = [sum(len(word) for word in self.words[start : end + 1]) for start, end in spans]
            assert sum(costs) >= 0.15 * self.tokens > sum(costs[:-1])

    def test_lengths_follow_the_clipped_distribution(self) -> None:
        rng = np.random.default_rng(24)
        spans = [span_mask(self.words, 0.001, 0.2, 10, rng)[0] for _ in range(4000)]
        observed = np.bincount([end - start + 1 for start, end in spans], minlength=11)[1:]
        expected = 4000 * span_length_distribution()
        assert ((observed - expected) ** 2 / expected).sum() < 27.88

    def test_starts_are_uniform(self) -> None:
        """One-word spans in ten words: 4,000 draws, 9 degrees of freedom."""
        rng = np.random.default_rng(25)
        starts = [span_mask([["t"]] * 10, 0.05, 0.2, 1, rng)[0][0] for _ in range(4000)]
        assert ((np.bincount(starts, minlength=10) - 400) ** 2 / 400).sum() < 27.88

    @pytest.mark.parametrize("budget", [0.0, 0.5, 1.0])
    def test_degenerate_budgets(self, budget: float) -> None:
        spans = span_mask([["a"], ["b", "c"], ["d"]], budget, 0.2, 10, np.random.default_rng(26))
        masked = sum(len([["a"], ["b", "c"], ["d"]][w]) for s, e in spans for w in range(s, e + 1))
        assert 4 * budget <= masked <= 4
        assert budget > 0 or masked == 0


class TestSpanBoundaryObjective:
    rng = np.random.default_rng(27)
    X, P = rng.standard_normal((12, 6)), rng.standard_normal((10, 6))
    W_1, W_2 = rng.standard_normal((18, 6)), rng.standard_normal((6, 6))

    def test_layers_equal_torch(self) -> None:
        x = np.linspace(-6, 6, 60).reshape(5, 12)
        t = torch.from_numpy(x)
        np.testing.assert_allclose(gelu(x), torch.nn.functional.gelu(t).numpy(), atol=1e-14)
        np.testing.assert_allclose(gelu_tanh(x), torch.nn.functional.gelu(t, approximate="tanh").numpy(), atol=1e-14)
        assert 1e-4 < np.abs(gelu(x) - gelu_tanh(x)).max() < 5e-4
        np.testing.assert_allclose(layer_norm(x, 1e-5), torch.nn.functional.layer_norm(t, (12,)).numpy(), atol=1e-12)

    def test_equals_a_torch_module(self) -> None:
        start, end = 3, 6
        first, second = torch.nn.Linear(18, 6, bias=False).double(), torch.nn.Linear(6, 6, bias=False).double()
        norm = torch.nn.LayerNorm(6, eps=1e-12).double()
        with torch.no_grad():
            first.weight.copy_(torch.from_numpy(self.W_1.T))
            second.weight.copy_(torch.from_numpy(self.W_2.T))
            rows = [np.concatenate([self.X[2], self.X[7], self.P[i - start]]) for i in range(start, end + 1)]
            activation = torch.nn.functional.gelu
            hidden = norm(activation(first(torch.from_numpy(np.stack(rows)))))
            expected = norm(activation(second(hidden))).numpy()
        ours = span_boundary_representation(self.X, start, end, self.P, self.W_1, self.W_2)
        np.testing.assert_allclose(ours, expected, atol=1e-12)

    def test_depends_on_boundaries_and_position(self) -> None:
        reference = span_boundary_representation(self.X, 3, 6, self.P, self.W_1, self.W_2)
        for row in range(12):
            changed = self.X.copy()
            changed[row] += 1.0
            y = span_boundary_representation(changed, 3, 6, self.P, self.W_1, self.W_2)
            if row in (2, 7):
                assert np.abs(y - reference).max() > 1e-3
            else:
                np.testing.assert_array_equal(y, reference)
        assert np.abs(reference[0] - reference[1]).max() > 1e-3

    @pytest.mark.parametrize(("start", "end"), [(0, 3), (5, 4), (8, 11)])
    def test_span_without_a_boundary(self, start: int, end: int) -> None:
        with pytest.raises(ValueError, match="no token on one of its sides"):
            span_boundary_representation(self.X, start, end, self.P, self.W_1, self.W_2)


class TestLoss:
    def test_loss_equals_torch(self) -> None:
        rng = np.random.default_rng(28)
        for scale, masked in itertools.product((1.0, 1000.0), ([0], [2, 3, 4], [7, 1])):
            mlm, sbo = scale * rng.standard_normal((8, 5)), scale * rng.standard_normal((8, 5))
            targets = rng.integers(5, size=8).tolist()
            expected = sum(
                torch.nn.functional.cross_entropy(torch.from_numpy(logits)[masked], torch.tensor(targets)[masked])
                for logits in (mlm, sbo)
            )
            assert spanbert_loss(mlm, sbo, targets, masked) == pytest.approx(float(expected), rel=1e-12)
