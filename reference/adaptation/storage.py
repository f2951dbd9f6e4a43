"""What LoRA saves, counted in floats: Hu et al. (2022), section 4.2.

For one weight W (d, k) and factors of rank r:

    trained            full  d k                    LoRA  r (d + k)
    fine-tuning        full  c d k                  LoRA  d k + c r (d + k)       c = weight + moments (+ gradient)
    M stored versions  full  (M + 1) N d k          LoRA  N d k + M N r (d + k)

The frozen weight stays in memory while its update is trained, so the whole shrinks by less than the optimizer's state.
LoRA trains and stores less below the rank d k / (d + k), which is d/2 for a square weight; while fine-tuning it takes
less memory only below (c - 1)/c of that rank.
"""

from typing import Final

MOMENTS: Final = {"sgd": 1, "adam": 2}
"""Floats of optimizer state for each trained parameter: momentum; first and second moment (Kingma and Ba, 2015)."""


def trainable_params(d: int, k: int, r: int) -> int:
    """Return r (d + k), the elements of both factors."""
    return r * (d + k)


def optimizer_floats(kind: str, d: int, k: int, r: int | None = None, gradients: bool = False) -> int:
    """Return the floats in memory while a weight (d, k) is fine-tuned.

    Args:
        kind: "sgd" (with momentum) or "adam".
        d, k: shape of the weight.
        r: rank of the factors; None trains the weight itself.
        gradients: whether one float of gradient for each trained parameter counts as well.

    Raises:
        ValueError: another kind.
    """
    if kind not in MOMENTS:
        raise ValueError(f"the optimizer is {kind!r}; expected one of {', '.join(MOMENTS)}")
    copies = 1 + MOMENTS[kind] + gradients
    if r is None:
        return copies * d * k
    return d * k + copies * trainable_params(d, k, r)


def decoding_floats(d: int, k: int, r: int, merged: bool) -> int:
    """Return the floats in memory while decoding: d k with the update merged into W, else d k + r (d + k)."""
    return d * k if merged else d * k + trainable_params(d, k, r)


def storage_full(N: int, M: int, d: int, k: int) -> int:
    """Return (M + 1) N d k: the first version and M more, each a full copy of N weights."""
    return (M + 1) * N * d * k


def storage_lora(N: int, M: int, d: int, k: int, r: int) -> int:
    """Return N d k + M N r (d + k): one base of N weights, and M adapters for each of them."""
    return N * d * k + M * N * trainable_params(d, k, r)


def break_even_rank(d: int, k: int) -> float:
    """Return d k / (d + k): below this rank the factors are smaller than the weight, above it they are larger."""
    return d * k / (d + k)
