"""What a LoRALinear does with given weights, and what merging and versions do to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .layers import Array, as_array, backward, forward, new_layer, write


def lora_facts(
    make: Callable[..., Any],
    W: Array,
    r: int,
    alpha: float,
    x: Array,
    upstream: Array,
    target: Array,
    factors: Sequence[Array],
) -> dict[str, Any]:
    """Return what a LoRALinear does: before training, with factors that it is given, and after a few steps of descent.

    Args:
        make: the student's class.
        W: shape (d, k); r and alpha as the class takes them.
        x, upstream: a batch of inputs (batch, k), and the gradient with respect to its outputs (batch, d).
        target: shape (d, k), the weight towards which the layer is trained.
        factors: values (d, r) and (r, k) for the trained factors, which the layer may hold in any order and transposed.

    Returns:
        "start" and "end": the effective weight (d, k); "factors" and "gradients": whatever gets a gradient at the
        start, and that gradient; "outputs" for x and "factor_gradients": with the given factors, None if none fit,
        while another layer has other ones.
    """
    layer = new_layer(make, W, r, alpha)
    unit_vectors = np.eye(W.shape[1])
    facts: dict[str, Any] = {"start": as_array(forward(layer, unit_vectors)).T.copy()}
    trained, gradients = backward(layer, x, upstream)
    facts["factors"], facts["gradients"] = [as_array(p).copy() for p in trained], gradients
    for _ in range(20):
        difference = as_array(forward(layer, unit_vectors)) - target.T
        _descend(*backward(layer, unit_vectors, difference))
    facts["end"] = as_array(forward(layer, unit_vectors)).T.copy()
    layer = new_layer(make, W, r, alpha)  # a new one: whatever else the old one has, training has changed it
    trained, _ = backward(layer, x, upstream)
    facts["outputs"] = facts["factor_gradients"] = None
    if _put(trained, factors):
        _put(backward(new_layer(make, W, r, alpha), x, upstream)[0], [1 - factor for factor in factors])
        facts["outputs"] = as_array(forward(layer, x)).copy()
        facts["factor_gradients"] = backward(layer, x, upstream)[1]
    return facts


def lora_outputs(make: Callable[..., Any], W: Array, r: int, alpha: float, x: Array, factors: Sequence[Array]) -> Any:
    """Return the outputs for x of a layer with the given factors; None if they do not fit."""
    layer = new_layer(make, W, r, alpha)
    trained, _ = backward(layer, x, np.ones((len(x), W.shape[0])))
    return as_array(forward(layer, x)).copy() if _put(trained, factors) else None


def _descend(trained: list[Any], gradients: list[Array]) -> None:
    """One step of a fixed length against each gradient, so that the scale of the initial factors does not matter."""
    for index, parameter in enumerate(trained):
        length = float(np.linalg.norm(gradients[index]))
        if length > 0:
            write(parameter, as_array(parameter) - 0.05 / length * gradients[index])


def _put(trained: list[Any], factors: Sequence[Array]) -> bool:
    """Write the given values into the trained factors; False if there are not two of these shapes, either way round."""
    values = {value.shape: value for factor in factors for value in (factor, factor.T)}
    fitting = [parameter for parameter in trained if as_array(parameter).shape in values]
    sizes = sorted(as_array(parameter).size for parameter in fitting)
    if sizes != sorted(factor.size for factor in factors):
        return False
    for parameter in fitting:
        write(parameter, values[as_array(parameter).shape])
    return True


def merged_twice(merge: Callable[..., Any], W: Array, A: Array, B: Array, alpha: float) -> list[Any]:
    """The results of two calls with the same arguments, each as it was right after its call, and W afterwards."""
    once = np.array(as_array(merge(W, A, B, alpha)))
    twice = np.array(as_array(merge(W, A, B, alpha)))
    return [once, twice, W]


def versions(make: Callable[..., Any], W: Array, steps: Sequence[Sequence[Any]], each: bool = True) -> list[Array]:
    """Return the weight of an AdapterRegistry at the start and after each step: ("accept", A, B, alpha) or ("revert",).

    Without `each` it is asked for after the last step alone.
    """
    return _followed(make(W.copy()), steps, each)


def versions_beside(make: Callable[..., Any], W: Array, steps: Sequence[Sequence[Any]]) -> list[list[Array]]:
    """The weight at the start and after each step, of two registries of one W: one takes the steps, the other none."""
    registry, other = make(W), make(W)
    return [_followed(registry, steps, True), _followed(other, [], True)]


def _followed(registry: Any, steps: Sequence[Sequence[Any]], each: bool) -> list[Array]:
    weights = [np.array(as_array(registry.weight()))] if each else []
    for count, (name, *arguments) in enumerate(steps, start=1):
        getattr(registry, name)(*arguments)
        if each or count == len(steps):
            weights.append(np.array(as_array(registry.weight())))
    return weights
