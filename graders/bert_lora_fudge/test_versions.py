"""Question 2d(i): adapters accepted one after the other, and taken back without a trace."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viva.grading import agree, number, visibility, weight

Array = NDArray[np.floating[Any]]
Step = tuple[Any, ...]
"""("accept", A, B, alpha) or ("revert",)"""


@number("2d.i")
@weight(1)
def test_accepted_adapters_add_up(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """The present version is W and every accepted adapter, each with its own scale."""
    W, steps = history(rng, "aaa")
    weights = inside.versions(student.AdapterRegistry, W, steps)
    for count, (actual, expected) in enumerate(zip(weights, expected_versions(W, steps), strict=True)):
        hints: dict[str, Any] = {}
        if count:
            updates = [update(*step[1:]) for step in steps[:count]]
            hints["only the latest adapter counts"] = W + updates[-1]
            hints["the scale α/r is missing"] = W + sum(A @ B for _, A, B, _ in steps[:count])
            hints["the accepted adapter is not in it"] = expected - updates[-1]
            if count > 1:
                merged_again = expected + sum(updates[:-1])
                hints["adapters that were merged already are added again"] = merged_again
        agree(actual, expected, hints=hints, name=f"weight() after {count} accepted adapters", rtol=1e-4, atol=1e-4)
    W, steps = history(rng, "aaa")
    actual = inside.versions(student.AdapterRegistry, W, steps, False)[-1]
    name = "weight() after three accepted adapters, asked for the first time"
    agree(actual, expected_versions(W, steps)[-1], name=name, rtol=1e-4, atol=1e-4)
    own, others = inside.versions_beside(student.AdapterRegistry, W, steps)
    agree(own, expected_versions(W, steps), name="weight() of one of two registries", rtol=1e-4, atol=1e-4)
    hints = {"the adapters of another registry of the same W are in it": own[-1:]}
    name = "weight() of a registry without adapters, beside another one that has three"
    agree(others, [W], hints=hints, name=name, rtol=1e-4, atol=1e-4)


@number("2d.i")
@weight(2)
def test_revert_is_exact(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """Taking an adapter back brings the earlier version back bit for bit."""
    for order in (
        "aaarr",
        "ar",
        "aaarrr",
        "aarar",
        "aaaaaaaarrrrrrrr",
    ):  # the first leaves an adapter in place: the next registry is a new one
        check_history(student, inside, *history(rng, order), order)
    W, steps = history(rng, "aaarar")
    actual = inside.versions(student.AdapterRegistry, W, steps, False)[-1]
    name = "weight() after … accept and revert, asked for the first time"
    agree(actual, expected_versions(W, steps)[-1], name=name, rtol=1e-4, atol=1e-4)


@number("2d.i")
@weight(1)
@visibility("after_published")
def test_random_histories(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """Adapters accepted and taken back in any order.

    Try accepting two adapters, taking one back and accepting another, and compare the weights with the originals.
    """
    for _ in range(2):
        order, height = "a", 1
        for _ in range(7):
            accepts = height == 0 or rng.random() < 0.5
            order, height = order + "ra"[accepts], height + (1 if accepts else -1)
        check_history(student, inside, *history(rng, order + "r" * height), order + "r" * height)


def history(rng: np.random.Generator, order: str) -> tuple[Array, list[Step]]:
    """Return a weight, and steps: an adapter of rank 2 or 3 for each "a", a revert for each "r"."""
    W = rng.standard_normal((6, 5))
    steps: list[Step] = []
    for letter in order:
        r = int(rng.integers(2, 4))
        adapter = (rng.standard_normal((6, r)), rng.standard_normal((r, 5)), float(rng.uniform(4, 9)))
        steps.append(("accept", *adapter) if letter == "a" else ("revert",))
    return W, steps


def update(A: Array, B: Array, alpha: float) -> Array:
    delta: Array = alpha / A.shape[1] * (A @ B)
    return delta


def expected_versions(W: Array, steps: Sequence[Step]) -> list[Array]:
    """Return the weight at the start and after each step."""
    stack = [W]
    versions = [W]
    for name, *adapter in steps:
        if name == "accept":
            stack.append(stack[-1] + update(*adapter))
        else:
            stack.pop()
        versions.append(stack[-1])
    return versions


def check_history(student: Any, inside: Any, W: Array, steps: list[Step], order: str) -> None:
    """Each version is right, and one that comes back after a revert is the same to the last bit."""
    weights = [np.asarray(weight) for weight in inside.versions(student.AdapterRegistry, W, steps)]
    stack = [0]
    for count, (actual, expected) in enumerate(zip(weights, expected_versions(W, steps), strict=True)):
        done = " and ".join({"a": "accept", "r": "revert"}[letter] for letter in order[:count][-3:]) or "the start"
        if count and order[count - 1] == "r":
            stack.pop()
            hints = {"nothing was taken back": weights[count - 1], "every adapter was taken back": W}
            agree(actual, expected, hints=hints, name=f"weight() after … {done}", rtol=1e-4, atol=1e-4)
            before = weights[stack[-1]]
            differ = int((actual != before).sum())
            assert np.array_equal(actual, before), (
                f"After … {done}, {differ} of {before.size} elements of weight() are not those of the version before "
                f"(by up to {float(np.abs(actual - before).max()):.1g}). Subtracting an update leaves rounding errors: "
                "keep the base, or the earlier version, and go back to it."
            )
        else:
            name = f"weight() after … {done}" if count else "weight() of a new registry"
            agree(actual, expected, name=name, rtol=1e-4, atol=1e-4)
            if count:
                stack.append(count)
