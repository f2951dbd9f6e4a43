"""Low-rank adaptation: Hu et al. (2022), "LoRA: Low-Rank Adaptation of Large Language Models", equation 3.

    W' = W + ΔW,   ΔW = (α/r) A B,   A (d, r), B (r, k), r < min(d, k);   W is frozen, A and B are trained

The letters are the course's; the paper writes ΔW = (α/r) B A, with B (d, r) and A (r, k). Either way one factor starts
at exactly zero and the other does not: ΔW = 0, and yet there is a gradient to begin with,

    ∂L/∂A = (α/r) (∂L/∂W') Bᵀ = 0    and    ∂L/∂B = (α/r) Aᵀ (∂L/∂W') ≠ 0    where B = 0.

With both at zero there would be none, and with both random the first output would not be the pre-trained model's.
"""

from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def lora_delta(A: ArrayLike, B: ArrayLike, alpha: float) -> Array:
    """Return ΔW = (α/r) A B for A (d, r) and B (r, k): (d, k), of rank at most r."""
    a, b = np.asarray(A, dtype=np.float64), np.asarray(B, dtype=np.float64)
    delta: Array = alpha / a.shape[1] * (a @ b)  # (d, k)
    return delta


def merge(W: ArrayLike, A: ArrayLike, B: ArrayLike, alpha: float) -> Array:
    """Return W + ΔW as one new matrix (d, k): decoding with it costs what decoding with W costs. W is unchanged."""
    merged: Array = np.asarray(W, dtype=np.float64) + lora_delta(A, B, alpha)  # (d, k)
    return merged


@final
class LoRALinear:
    """A frozen linear layer with a trained low-rank update, and its gradients by hand."""

    def __init__(self, W: ArrayLike, r: int, alpha: float, rng: np.random.Generator | None = None) -> None:
        """Copy W (d, k); A is drawn from N(0, 1/r) and B is zero.

        Raises:
            ValueError: the rank is below 1 or above min(d, k).
        """
        self.W = np.array(W, dtype=np.float64)  # (d, k)
        d, k = self.W.shape
        if not 1 <= r <= min(d, k):
            raise ValueError(f"the rank is {r}; expected 1 to {min(d, k)}")
        generator = np.random.default_rng(0) if rng is None else rng
        self.alpha = alpha
        self.A = generator.standard_normal((d, r)) / np.sqrt(r)  # (d, r)
        self.B = np.zeros((r, k))  # (r, k)

    def forward(self, x: ArrayLike) -> Array:
        """Return x W'ᵀ (batch, d) for x (batch, k).

        W' itself is never formed, as r (d + k) products are fewer than d k.
        """
        inputs = np.asarray(x, dtype=np.float64)
        scale = self.alpha / self.A.shape[1]
        output: Array = inputs @ self.W.T + scale * (inputs @ self.B.T) @ self.A.T  # (batch, d)
        return output

    def parameters(self) -> list[Array]:
        """Return what is trained: A and B themselves, to be changed in place."""
        return [self.A, self.B]

    def gradients(self, x: ArrayLike, upstream: ArrayLike) -> list[Array]:
        """Return the gradients of Σ upstream · forward(x) with respect to `parameters()`, in the same order.

        Args:
            x: shape (batch, k).
            upstream: shape (batch, d), the gradient of the loss with respect to the output.
        """
        g, inputs = np.asarray(upstream, dtype=np.float64), np.asarray(x, dtype=np.float64)
        scale = self.alpha / self.A.shape[1]
        return [scale * g.T @ (inputs @ self.B.T), scale * (g @ self.A).T @ inputs]  # (d, r), (r, k)
