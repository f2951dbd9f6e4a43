"""Questions 2b, 2c and 2d: memory while fine-tuning and decoding, merging, and the storage of many versions."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from viva.grading import agree, agree_formula, number, visibility, weight

Array = NDArray[np.floating[Any]]

LETTERS = {"d": (20.0, 60.0), "k": (20.0, 60.0), "r": (1.0, 8.0), "N": (2.0, 12.0), "M": (2.0, 20.0)}
"""What the letters of the formulas may be."""
SIZES = {letter: LETTERS[letter] for letter in "dkr"}
LARGE = "more floats than 32 bits can count"


@number("2b")
@weight(2)
@pytest.mark.parametrize("quantity", ["trainable", "adam_full", "adam_lora", "break_even"])
def test_memory_by_hand(submission: Any, key: Any, quantity: str) -> None:
    """Trained parameters, floats in memory with Adam, and the rank at which both ways train as many, as formulas."""
    accept = {"adam_full": ["4*d*k"], "adam_lora": ["d*k + 4*r*(d + k)"]}  # with gradients
    mistakes = {
        "trainable": {
            "the product is not trained, its factors are": "d*k",
            "the factors have (d + k) rows and columns of length r": "d + k",
            "the sizes of the two factors are added, not multiplied": "d*r*r*k",
            "these are the floats of full fine-tuning and LoRA together": "d*k + r*(d + k)",
        },
        "adam_full": {
            "Adam keeps two moments for each parameter, and the weight is in memory too": "2*d*k",
            "the weight alone": "d*k",
        },
        "adam_lora": {
            "the frozen weight is in memory as well": "3*r*(d + k)",
            "the frozen weight is in memory as well (gradients counted)": "4*r*(d + k)",
            "the factors themselves are in memory, beside their moments": "d*k + 2*r*(d + k)",
            "the frozen weight has no optimizer state": "3*d*k + 3*r*(d + k)",
        },
        "break_even": {
            "the fraction is upside down": "(d + k)/(d*k)",
            "this is the rank of W, where LoRA is already larger": "d",
            "that is right for square weights only": "d/2",
            "that is the rank for all memory of Adam; asked is the number of trained parameters": "2*d*k/(3*(d+k))",
        },
    }
    agree_formula(
        submission.answers[f"2b.{quantity}"],
        key.answers[f"2b.{quantity}"],
        SIZES,
        accept=accept.get(quantity, []),
        hints=mistakes[quantity],
    )


@number("2b")
@weight(1)
def test_trainable_params(student: Any, key: Any) -> None:
    """LoRA trains as many parameters as its two factors have elements."""
    for d, k, r in [(768, 768, 8), (5, 7, 2), (1024, 64, 1), (6, 3, 2), (300, 200, 150)]:  # at the break-even, above it
        hints = {
            "the product of the factors is counted, not the factors": d * k,
            "only one factor is counted": r * d,
            "only the factor of shape (r, k) is counted": r * k,
            "the sizes of the two factors are multiplied; add them": d * r * r * k,
        }
        agree(
            student.trainable_params(d, k, r),
            key.trainable_params(d, k, r),
            hints=hints,
            name=f"trainable_params({d}, {k}, {r})",
        )


@number("2b")
@weight(2)
def test_optimizer_floats(student: Any, key: Any) -> None:
    """Floats in memory while a weight is fine-tuned: frozen ones once, trained ones with their state and gradient."""
    for kind, r, gradients in [
        ("sgd", None, False),
        ("adam", None, False),
        ("sgd", 2, False),
        ("adam", 2, False),
        ("adam", 2, True),
        ("adam", None, True),
        ("sgd", 3, True),
        ("adam", 5, False),
        ("adam", 8, True),
        ("adam", None, LARGE),
        ("adam", 16, LARGE),
    ]:
        d, k = (70_000, 50_000) if gradients is LARGE else (5, 7)
        gradients = gradients is True
        expected = key.optimizer_floats(kind, d, k, r, gradients)
        moments = {"sgd": 1, "adam": 2}[kind]
        size = d * k if r is None else r * (d + k)
        hints = {
            "the frozen weight is in memory as well": expected - d * k,
            "the frozen weight has no optimizer state": d * k + moments * d * k + (1 + moments + gradients) * size,
            "only the optimizer's state is counted; weights are in memory too": moments * size,
            "the gradients are counted though they are not asked for": expected + size,
            "the gradients are asked for as well": expected - size,
            "momentum is one float for each parameter, Adam's moments are two": expected
            + (1 if kind == "sgd" else -1) * size,
        }
        call = f'optimizer_floats("{kind}", {d}, {k}, r={r}, gradients={gradients})'
        given = (gradients,) if gradients else ()  # False is the default
        agree(student.optimizer_floats(kind, d, k, r, *given), expected, hints=hints, name=call)


@number("2b")
@weight(2)
@visibility("after_published")
def test_memory_of_random_shapes(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Random shapes; LoRA trains fewer parameters exactly below the rank dk/(d + k).

    Try matrices that are not square, rank 1, and the largest rank.
    """
    shapes = [tuple(int(size) for size in rng.integers((3, 3, 1), (40, 40, 30))) for _ in range(8)]
    agree(student.trainable_params.each(shapes), [key.trainable_params(*shape) for shape in shapes])
    questions = [
        (kind, d, k, rank, bool(rng.integers(2)))
        for d, k, r in shapes
        for kind in ("sgd", "adam")
        for rank in (r, None)
    ]
    actual = student.optimizer_floats.each(questions)
    agree(actual, [key.optimizer_floats(*question) for question in questions])


@number("2c")
@weight(1)
@pytest.mark.parametrize("quantity", ["inference", "per_task"])
def test_decoding_by_hand(submission: Any, key: Any, quantity: str) -> None:
    """Floats for decoding with one weight, and for each further task, as formulas."""
    accept = {"inference": ["d*k + r*(d + k)"], "per_task": []}  # the update merged, or stored separately
    mistakes = {
        "inference": {
            "W is needed as well": "r*(d + k)",
            "merged there is one matrix; kept apart there are W and two factors": "2*d*k",
        },
        "per_task": {
            "the tasks share W": "d*k + r*(d + k)",
            "this is what a task costs without LoRA": "d*k",
        },
    }
    agree_formula(
        submission.answers[f"2c.{quantity}"],
        key.answers[f"2c.{quantity}"],
        SIZES,
        accept=accept[quantity],
        hints=mistakes[quantity],
    )


@number("2c")
@weight(2)
def test_merge(student: Any, key: Any, rng: np.random.Generator) -> None:
    """merge gives W + (α/r) A B, one matrix (d, k)."""
    for d, k, r, alpha in [(2, 3, 4, 6.0), (6, 5, 2, 1.5)]:
        W, A, B = (rng.standard_normal(shape).round(1) for shape in ((d, k), (d, r), (r, k)))
        hints = {
            "the scale α/r is missing": W + A @ B,
            "ΔW is multiplied by α; divide it by r as well": W + alpha * A @ B,
            "ΔW is added twice": W + 2 * alpha / r * A @ B,
            "this is ΔW alone; add W": alpha / r * A @ B,
            "the update is subtracted": W - alpha / r * A @ B,
        }
        name = f"merge for d = {d}, k = {k}"
        if d == 2:
            name = f"merge({W.tolist()}, {A.tolist()}, {B.tolist()}, {alpha:g})"
        agree(student.merge(W, A, B, alpha), key.merge(W, A, B, alpha), hints=hints, name=name)


@number("2c")
@weight(1)
def test_merging_twice(student: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """Merging the same adapter into the same weight again gives the same again: merge changes none of its arguments."""
    W, A, B = (rng.standard_normal(shape) for shape in ((4, 3), (4, 2), (2, 3)))
    once, twice, after = inside.merged_twice(student.merge, W, A, B, 3.0)
    expected = key.merge(W, A, B, 3.0)
    hint = {"ΔW is added twice: the first call changed W in place": lambda: expected + (expected - W)}
    agree(after, W, name="W after a call of merge", hints={"merge changed W in place": expected, **hint})
    agree(twice, once, name="the result of a second call of merge", hints=hint)
    moved, direction = np.asarray(once, dtype=float) - W, A @ B
    length = float(np.linalg.norm(moved))
    assert length > 0, "merge returned W itself."
    agree(moved / length, direction / np.linalg.norm(direction), name="merge(W, A, B, alpha) - W, brought to length 1")


@number("2c")
@weight(1)
@visibility("after_published")
def test_merged_and_separate_are_the_same(student: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """A layer with an adapter and one merged matrix give the same outputs.

    Try comparing the outputs before and after merging, also for two inputs at once.
    """
    for _ in range(2):
        d, k = (int(size) for size in 4 + rng.permutation(5)[:2])
        r, alpha = int(rng.integers(2, 4)), float(rng.uniform(4.5, 9))
        W, x, A, B = (rng.standard_normal(s).astype(np.float32) for s in ((d, k), (4, k), (d, r), (r, k)))
        merged = student.merge(W, A, B, alpha)
        agree(merged, key.merge(W, A, B, alpha), rtol=1e-4, atol=1e-4)
        separate = inside.lora_outputs(student.LoRALinear, W, r, alpha, x, [A, B])
        agree(separate, x @ np.asarray(merged, dtype=float).T, rtol=1e-4, atol=1e-4)


@number("2d.ii")
@weight(1)
def test_storage_with_adapters_by_hand(submission: Any, key: Any) -> None:
    """The floats of one base model and M accepted adapters, as a formula."""
    hints = {
        "there is one base and M adapters, not M + 1": "N*d*k + (M + 1)*N*r*(d + k)",
        "the base is stored as well": "M*N*r*(d + k)",
        "each of the N weights has its own adapter": "N*d*k + M*r*(d + k)",
        "there are N weights": "d*k + M*r*(d + k)",
        "the base is stored once, not once for each version": "(M + 1)*N*(d*k + r*(d + k))",
    }
    agree_formula(submission.answers["2d.ii"], key.answers["2d.ii"], LETTERS, hints=hints)


@number("2d.ii")
@weight(1)
def test_storage_lora(student: Any, key: Any) -> None:
    """storage_lora counts one base model and M adapters for each of its N weights."""
    for N, M, d, k, r in [(1, 0, 4, 3, 1), (12, 52, 768, 64, 8), (3, 5, 7, 4, 2), (384, 365, 12_288, 12_288, 16)]:
        adapter = r * (d + k)
        hints = {
            "M + 1 adapters are counted; the first version is the base, without one": N * d * k + (M + 1) * N * adapter,
            "the base is not counted": M * N * adapter,
            "the adapters of one weight are counted, not of all N": N * d * k + M * adapter,
            "the base is counted once for each version": (M + 1) * N * d * k + M * N * adapter,
        }
        name = f"storage_lora(N={N}, M={M}, d={d}, k={k}, r={r})"
        agree(student.storage_lora(N, M, d, k, r), key.storage_lora(N, M, d, k, r), hints=hints, name=name)


@number("2d.iii")
@weight(1)
@pytest.mark.parametrize("quantity", ["full", "saving"])
def test_storage_of_full_copies_by_hand(submission: Any, key: Any, quantity: str) -> None:
    """The floats of M + 1 full copies, and what LoRA saves, as formulas."""
    mistakes = {
        "full": {
            "the first version is stored as well": "M*N*d*k",
            "there are N weights": "(M + 1)*d*k",
        },
        "saving": {
            "this is the share that remains, not what is saved": "(N*d*k + M*N*r*(d+k))/((M+1)*N*d*k)",
            "both ways store the first version once": "(M + 1)*N*(d*k - r*(d + k))",
            "each of the N weights saves as much": "M*(d*k - r*(d + k))",
            "the sign is turned round": "M*N*(r*(d + k) - d*k)",
        },
    }
    question = f"2d.iii.{quantity}"
    agree_formula(submission.answers[question], key.answers[question], LETTERS, hints=mistakes[quantity])


@number("2d.iii")
@weight(1)
def test_storage_full(student: Any, key: Any) -> None:
    """storage_full counts the first version and M more, each with N weights."""
    for N, M, d, k in [(1, 0, 4, 3), (12, 52, 768, 64), (3, 5, 7, 4), (384, 365, 12_288, 12_288)]:
        hints = {"the first version is not counted": M * N * d * k, "one weight is counted, not N": (M + 1) * d * k}
        name = f"storage_full(N={N}, M={M}, d={d}, k={k})"
        agree(student.storage_full(N, M, d, k), key.storage_full(N, M, d, k), hints=hints, name=name)


@number("2d.iii")
@weight(1)
@visibility("after_published")
def test_adapters_save_storage_below_the_break_even_rank(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Adapters need less storage than full copies exactly if r < dk/(d + k).

    Try a rank just below and just above the one at which both need the same storage.
    """
    questions: list[tuple[int, ...]] = [
        (int(rng.integers(1, 9)), int(rng.integers(1, 30)), d, k, r)
        for d, k in [(6, 12), (10, 10), *rng.integers(3, 40, (4, 2)).tolist()]
        for r in (1, max(1, d * k // (d + k)), d * k // (d + k) + 1, d + k)
    ]
    with_adapters = student.storage_lora.each(questions)
    agree(with_adapters, [key.storage_lora(*question) for question in questions])
    full = student.storage_full.each([question[:4] for question in questions])
    agree(full, [key.storage_full(*question[:4]) for question in questions])
