"""The author's helpers that live in the box: what the student's functions are given to work with. Holds no answers.

Runs in the course's interpreter, so numpy, torch and the standard library only, and Python 3.9 or later.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

Array = np.ndarray[Any, Any]


def generator(seed: int) -> np.random.Generator:
    """The source of randomness that the student's samplers are given."""
    return np.random.default_rng(seed)


def each(function: Callable[..., Any], questions: Sequence[Sequence[Any]]) -> list[Any]:
    """Call a function on each list of arguments, all in one crossing of the door."""
    return [function(*arguments) for arguments in questions]


def repeat(function: Callable[..., Any], times: int, *arguments: Any) -> list[Any]:
    """Call a function many times in one crossing of the door."""
    return [function(*arguments) for _ in range(times)]


# Section 1: BERT


def kept_apart(function: Callable[..., Any], times: int, first: Any, *others: Any) -> dict[str, Any]:
    """Call a function again and again with the same objects.

    Returns:
        "values": a copy of each result, made before the next call; "first": the first argument after all of them.
    """
    values = [copy.deepcopy(function(first, *others)) for _ in range(times)]
    return {"values": values, "first": first}


def fill_function(rows: list[tuple[list[str], list[dict[str, float]]]]) -> Callable[[Sequence[str]], Any]:
    """A masked language model as a table: from a sentence to the probabilities of each of its tokens."""
    table = {tuple(tokens): probabilities for tokens, probabilities in rows}

    def fill(tokens: Sequence[str]) -> list[dict[str, float]]:
        return [dict(row) for row in table[tuple(tokens)]]

    return fill


# Sections 2 and 3: LoRA and constrained generation


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
    """What a LoRALinear does: before training, with factors that it is given, and after a few steps of descent.

    Args:
        make: the student's class.
        W: shape (d, k); r and alpha as the class takes them.
        x, upstream: a batch of inputs (batch, k), and the gradient with respect to its outputs (batch, d).
        target: shape (d, k), the weight towards which the layer is trained.
        factors: values (d, r) and (r, k) for the trained factors, which the layer may hold in any order and transposed.

    Returns:
        "start" and "end": the effective weight (d, k); "factors" and "gradients": whatever gets a gradient at the
        start, and that gradient; "outputs" for x and "factor_gradients": with the given factors, None if none fit.
    """
    layer = _layer(make, W, r, alpha)
    unit_vectors = np.eye(W.shape[1])
    facts: dict[str, Any] = {"start": _array(_forward(layer, unit_vectors)).T}
    trained, gradients = _gradients(layer, x, upstream)
    facts["factors"], facts["gradients"] = [_array(p).copy() for p in trained], gradients
    for _ in range(20):
        difference = _array(_forward(layer, unit_vectors)) - target.T
        _descend(*_gradients(layer, unit_vectors, difference))
    facts["end"] = _array(_forward(layer, unit_vectors)).T
    layer = _layer(make, W, r, alpha)  # a new one: whatever else the old one has, training has changed it
    trained, _ = _gradients(layer, x, upstream)
    facts["outputs"] = facts["factor_gradients"] = None
    if _put(trained, factors):
        facts["outputs"] = _array(_forward(layer, x))
        facts["factor_gradients"] = _gradients(layer, x, upstream)[1]
    return facts


def lora_outputs(make: Callable[..., Any], W: Array, r: int, alpha: float, x: Array, factors: Sequence[Array]) -> Any:
    """The outputs for x of a layer with the given factors; None if they do not fit."""
    layer = _layer(make, W, r, alpha)
    trained, _ = _gradients(layer, x, np.ones((len(x), W.shape[0])))
    return _array(_forward(layer, x)) if _put(trained, factors) else None


def _layer(make: Callable[..., Any], W: Array, r: int, alpha: float) -> Any:
    """The student's layer, from an array as the handout says, or from a tensor if it can work with nothing else."""
    try:
        layer = make(W.copy(), r, alpha)
        _forward(layer, np.eye(W.shape[1]))
    except (TypeError, AttributeError) as problem:
        try:
            layer = make(torch.from_numpy(W.copy()), r, alpha)
            _forward(layer, np.eye(W.shape[1]))
        except Exception:
            raise problem from None
    return layer


def _parameters(layer: Any) -> list[Any]:
    parameters = layer.parameters
    return list(parameters() if callable(parameters) else parameters)


def _tensors(layer: Any) -> bool:
    """Whether the layer works with torch: then autograd gives its gradients."""
    return isinstance(layer, torch.nn.Module) or any(isinstance(p, torch.Tensor) for p in _parameters(layer))


def _forward(layer: Any, x: Array) -> Any:
    if _tensors(layer):
        floating = [p for p in _parameters(layer) if p.is_floating_point()]
        given: Any = torch.as_tensor(x).to(floating[0].dtype if floating else torch.float32)
        return layer(given) if callable(layer) else layer.forward(given)
    return layer.forward(x.copy()) if hasattr(layer, "forward") else layer(x.copy())


def _gradients(layer: Any, x: Array, upstream: Array) -> tuple[list[Any], list[Array]]:
    """What gets a gradient of Σ upstream · forward(x), and these gradients."""
    if not _tensors(layer):
        return _parameters(layer), [_array(gradient) for gradient in layer.gradients(x.copy(), upstream.copy())]
    for parameter in _parameters(layer):
        parameter.grad = None
    output = _forward(layer, x)
    if output.requires_grad:
        (output * torch.as_tensor(upstream).to(output.dtype)).sum().backward()
    trained = [parameter for parameter in _parameters(layer) if parameter.grad is not None]
    return trained, [_array(parameter.grad).copy() for parameter in trained]


def _descend(trained: list[Any], gradients: list[Array]) -> None:
    """One step of a fixed length against each gradient, so that the scale of the initial factors does not matter."""
    for index, parameter in enumerate(trained):
        length = float(np.linalg.norm(gradients[index]))
        if length > 0:
            _write(parameter, _array(parameter) - 0.05 / length * gradients[index])


def _put(trained: list[Any], factors: Sequence[Array]) -> bool:
    """Write the given values into the trained factors; False if there are not two of these shapes, either way round."""
    values = {value.shape: value for factor in factors for value in (factor, factor.T)}
    fitting = [parameter for parameter in trained if _array(parameter).shape in values]
    sizes = sorted(_array(parameter).size for parameter in fitting)
    if sizes != sorted(factor.size for factor in factors):
        return False
    for parameter in fitting:
        _write(parameter, values[_array(parameter).shape])
    return True


def _write(parameter: Any, value: Array) -> None:
    """Change a tensor, an array or nested lists in place."""
    if isinstance(parameter, torch.Tensor):
        parameter.data.copy_(torch.as_tensor(np.ascontiguousarray(value)))
    elif isinstance(parameter, np.ndarray):
        parameter[...] = value
    else:
        for index, row in enumerate(parameter):
            row[:] = value[index].tolist()


def _array(value: Any) -> Array:
    if isinstance(value, torch.Tensor):
        return np.asarray(value.detach().cpu().numpy())
    return np.asarray(value)


def merged_twice(merge: Callable[..., Any], W: Array, A: Array, B: Array, alpha: float) -> list[Any]:
    """The results of two calls with the same arguments, each as it was right after its call, and W afterwards."""
    once = np.array(_array(merge(W, A, B, alpha)))
    twice = np.array(_array(merge(W, A, B, alpha)))
    return [once, twice, W]


def versions(make: Callable[..., Any], W: Array, steps: Sequence[Sequence[Any]]) -> list[Array]:
    """The weight of an AdapterRegistry at the start and after each step: ("accept", A, B, alpha) or ("revert",)."""
    registry = make(W.copy())
    weights = [np.array(_array(registry.weight()))]
    for name, *arguments in steps:
        getattr(registry, name)(*arguments)
        weights.append(np.array(_array(registry.weight())))
    return weights


def step_function(nodes: list[tuple[list[str], dict[str, float]]]) -> Callable[[Sequence[str]], dict[str, float]]:
    """A language model as a table: from the tokens so far, in any sequence, to the probability of each next token."""
    table = {tuple(prefix): probabilities for prefix, probabilities in nodes}

    def step(prefix: Sequence[str]) -> dict[str, float]:
        return dict(table[tuple(prefix)])

    return step


def classifier(probabilities: list[tuple[list[str], float]]) -> Callable[[Sequence[str]], float]:
    """A prefix classifier as a table: from the tokens so far, in any sequence, to the probability of the attribute."""
    table = {tuple(prefix): probability for prefix, probability in probabilities}

    def classify(prefix: Sequence[str]) -> float:
        return table[tuple(prefix)]

    return classify


def learned(
    train: Callable[..., Any], examples: Sequence[tuple[list[str], int]], prefixes: Sequence[list[str]]
) -> list[float]:
    """What a classifier that the student trained says about each prefix."""
    trained = train([(list(prefix), label) for prefix, label in examples])
    return [float(trained(list(prefix))) for prefix in prefixes]
