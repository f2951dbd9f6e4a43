"""Questions 2a and 2e: the LoRA layer, judged by what it does and not by the letters of its factors."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viva.grading import agree, number, visibility, weight

Array = NDArray[np.floating[Any]]
Mistakes = dict[str, Callable[[], Any]]

SHAPES = [(5, 7, 2, 6.0), (6, 4, 3, 1.5), (8, 9, 4, 1.0), (3, 4, 1, 5.0)]
"""d, k, r, alpha: three different sizes, so that the shape of a factor shows which of the two it is."""


@dataclass(frozen=True)
class Question:
    """One layer, a batch for it, and values for its factors: P (d, r) and Q (r, k)."""

    W: Array
    r: int
    alpha: float
    x: Array
    upstream: Array
    target: Array
    P: Array
    Q: Array

    @classmethod
    def drawn(cls, rng: np.random.Generator, d: int, k: int, r: int, alpha: float) -> "Question":
        batch = 1 if r == 1 else 4
        shapes = [(d, k), (batch, k), (batch, d), (d, k), (d, r), (r, k)]
        W, x, upstream, target, P, Q = (rng.standard_normal(shape).astype(np.float32) for shape in shapes)
        return cls(W, r, alpha, x, upstream, target, P, Q)

    def facts(self, student: Any, inside: Any) -> dict[str, Any]:
        """Return what the student's layer does with it."""
        factors = [self.P, self.Q]
        facts: dict[str, Any] = inside.lora_facts(
            student.LoRALinear, self.W, self.r, self.alpha, self.x, self.upstream, self.target, factors
        )
        return facts

    @property
    def name(self) -> str:
        d, k = self.W.shape
        return f"the layer with d = {d}, k = {k}, r = {self.r}, alpha = {self.alpha:g}"


@number("2a")
@weight(3)
def test_lora_linear(student: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """The layer gives x (W + ΔW)ᵀ, where ΔW is α/r times the product of its two trained factors."""
    for shape in SHAPES:
        question = Question.drawn(rng, *shape)
        outputs = question.facts(student, inside)["outputs"]
        check_outputs(outputs, question, key, output_mistakes(key, question))
    square = Question.drawn(rng, 5, 5, 2, 3.0)
    square = replace(square, P=square.Q.T)  # the shape of a factor does not tell which of the two it is: both are alike
    outputs = square.facts(student, inside)["outputs"]
    check_outputs(outputs, square, key, {"W is transposed": lambda: outputs_of_transposed(key, square)})


@number("2a")
@weight(2)
def test_only_the_factors_are_trained(student: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """The two factors get a gradient and W does not, so training changes the weight by a matrix of rank r at most."""
    for shape in SHAPES:
        question = Question.drawn(rng, *shape)
        facts = question.facts(student, inside)
        check_shapes(facts["factors"], question)
        if facts["factor_gradients"] is not None:
            check_gradients(facts["factor_gradients"], facts["outputs"], question)
        check_rank(facts["end"], question)


@number("2a")
@weight(2)
@visibility("after_published")
def test_lora_linear_on_random_weights(student: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """Random shapes, ranks and scales.

    Try sizes that all differ, rank 1, and a scale that is not 1.
    """
    for _ in range(2):
        d, k = (int(size) for size in 4 + rng.permutation(5)[:2])
        question = Question.drawn(rng, d, k, int(rng.integers(2, 4)), float(rng.uniform(4.5, 9)))
        facts = question.facts(student, inside)
        check_outputs(facts["outputs"], question, key, {})
        check_rank(facts["end"], question)


@number("2e")
@weight(1)
def test_the_layer_starts_at_the_pretrained_weight(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """Before training the layer gives exactly what W alone gives: ΔW is not small, but zero."""
    for shape in SHAPES:
        question = Question.drawn(rng, *shape)
        facts = question.facts(student, inside)
        start = np.asarray(facts["start"])
        agree(start.shape, question.W.shape, name="the shape of the effective weight")
        far = float(np.abs(start - question.W).max())
        assert np.array_equal(start, question.W), (
            f"Before training, W + ΔW differs from W by up to {far:.2g}. "
            "One of the two factors has to start at exactly zero; if both are random, the first outputs are disturbed."
        )
        check_adapts(facts["outputs"], question)


@number("2e")
@weight(2)
def test_gradients_at_the_start(student: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """At the start the factor that is zero gets a gradient, and the other one's gradient is zero."""
    for shape in SHAPES:
        question = Question.drawn(rng, *shape)
        facts = question.facts(student, inside)
        P, Q = factors_among(facts["factors"], question)
        with_respect_to_p, with_respect_to_q = factors_among(facts["gradients"], question)
        zero = [not P.any(), not Q.any()]
        assert not all(zero), (
            "Both factors start at zero: then neither gets a gradient, and nothing is ever learned. Draw one at random."
        )
        assert any(zero), "Neither factor starts at zero, so ΔW is not zero and neither gradient is."
        rank = int(np.linalg.matrix_rank(Q if zero[0] else P))
        assert rank == question.r, (
            f"In {question.name}, the factor that is not zero has rank {rank}: its rows or columns are alike, so they "
            "get the same gradients and stay alike. Draw its elements at random."
        )
        learning, resting = (
            (with_respect_to_p, with_respect_to_q) if zero[0] else (with_respect_to_q, with_respect_to_p)
        )
        assert not resting.any(), "The gradient of the random factor is not zero, although the other factor is zero."
        assert learning.any(), "The factor that is zero gets no gradient, so nothing is ever learned."
        agree_up_to_scale(
            learning, gradients_of(question, P, Q)[0 if zero[0] else 1], "the gradient of the zero factor"
        )


def check_outputs(outputs: Any, question: Question, key: Any, hints: Mistakes) -> None:
    """Compare the outputs of the layer with the given factors."""
    d, k, r = *question.W.shape, question.r
    assert outputs is not None, (
        f"In {question.name}, the trained factors were not found: among what gets a gradient, "
        f"nothing has the shapes {(d, r)} and {(r, k)}, or these transposed."
    )
    expected = question.x @ key.merge(question.W, question.P, question.Q, question.alpha).T
    agree(outputs, expected, hints=hints, name=f"the output of {question.name}", rtol=1e-4, atol=1e-4)


def check_adapts(outputs: Any, question: Question) -> None:
    """With given factors the outputs move away from x Wᵀ in the direction of x (PQ)ᵀ; how far is asked elsewhere."""
    agree(
        np.shape(outputs),
        question.upstream.shape,
        name=f"with given factors, the shape of the output of {question.name}",
    )
    moved = np.asarray(outputs, dtype=float) - question.x @ question.W.T
    name = f"the change of the output of {question.name} by given factors"
    agree_up_to_scale(moved, question.x @ (question.P @ question.Q).T, name)


def check_shapes(trained: list[Any], question: Question) -> None:
    """Nothing but the two factors gets a gradient."""
    shapes = sorted(tuple(sorted(np.shape(value))) for value in trained)
    d, k, r = *question.W.shape, question.r
    assert tuple(sorted((d, k))) not in shapes, (
        f"In {question.name}, W itself (or a matrix of its shape) gets a gradient; freeze it and train the two factors."
    )
    wanted = sorted(tuple(sorted(shape)) for shape in [(d, r), (r, k)])
    found = ", ".join(str(np.shape(value)) for value in trained) or "nothing"
    assert shapes == wanted, f"In {question.name}, what gets a gradient is {found}; expected {(d, r)} and {(r, k)}."


def check_rank(end: Any, question: Question) -> None:
    """After twenty steps of descent the weight differs from W by a matrix of rank r at most."""
    change = np.asarray(end, dtype=float) - question.W
    assert change.shape == question.W.shape and np.isfinite(change).all(), "The layer gives no finite weight (d, k)."
    sizes = np.linalg.svd(change, compute_uv=False)
    rank = int((sizes > max(1e-3 * sizes[0], 1e-5)).sum())
    assert rank <= question.r, (
        f"After some training the weight of {question.name} differs from W by a matrix of rank {rank}; "
        f"two factors can make {question.r} at most. Is W itself trained?"
    )


def check_gradients(gradients: Any, outputs: Any, question: Question) -> None:
    """Compare with the gradients by the chain rule.

    What the layer multiplies ΔW by is read off its outputs: `test_lora_linear` asks whether that is α/r.
    """
    update = question.x @ (question.P @ question.Q).T
    moved = np.asarray(outputs, dtype=float) - question.x @ question.W.T
    scale = float((moved * update).sum() / (update * update).sum())
    assert scale > 0, f"In {question.name}, the output does not move in the direction of the product of the factors."
    for actual, without_scale, shape in zip(
        factors_among(gradients, question),
        gradients_of(question, question.P, question.Q),
        ("(d, r)", "(r, k)"),
        strict=True,
    ):
        name = f"in {question.name}, the gradient of the factor {shape}"
        hints = {"the factor α/r of ΔW is missing in it": without_scale}
        agree(actual, scale * without_scale, name=name, hints=hints, rtol=1e-3, atol=1e-3)


def gradients_of(question: Question, P: Array, Q: Array) -> tuple[Array, Array]:
    """Return the gradients of Σ upstream · output with respect to P and Q, without the scale α/r."""
    with_respect_to_w = question.upstream.T @ question.x  # (d, k)
    return with_respect_to_w @ Q.T, P.T @ with_respect_to_w


def agree_up_to_scale(actual: Array, expected: Array, name: str) -> None:
    """Compare two directions; a positive factor between them does not count."""
    length = float(np.linalg.norm(actual))
    assert length > 0, f"{name.capitalize()} is zero."
    agree(actual / length, expected / np.linalg.norm(expected), name=f"{name}, brought to length 1", atol=1e-3)


def factors_among(values: list[Any], question: Question) -> tuple[Array, Array]:
    """Return the two of shape (d, r) and (r, k), turned round where they are stored transposed."""
    (d, k), r = question.W.shape, question.r
    check_shapes(values, question)
    first, second = (np.asarray(value, dtype=float) for value in values)
    if sorted(first.shape) != sorted((d, r)):
        first, second = second, first
    return first if first.shape == (d, r) else first.T, second if second.shape == (r, k) else second.T


# What students get wrong, computed only for an answer that is wrong, so that a message can name it.


def outputs_of_transposed(key: Any, question: Question) -> Any:
    return question.x @ key.merge(question.W.T, question.P, question.Q, question.alpha).T


def output_mistakes(key: Any, question: Question) -> Mistakes:
    x, W, P, Q, r, alpha = question.x, question.W, question.P, question.Q, question.r, question.alpha

    def scaled(scale: float) -> Callable[[], Any]:
        return lambda: x @ key.merge(W, P, Q, r * scale).T

    return {
        "the scale α/r is missing": scaled(1.0),
        "ΔW is multiplied by α; divide it by r as well": scaled(alpha),
        "ΔW is divided by r; multiply it by α as well": scaled(1 / r),
        "ΔW is divided by √r, not by r": scaled(alpha / np.sqrt(r)),
        "the scale is upside down: it is α/r": scaled(r / alpha),
        "this is the output of W alone": scaled(0.0),
        "this is the output of ΔW alone; add the one of W": lambda: x @ key.merge(0 * W, P, Q, alpha).T,
    }
