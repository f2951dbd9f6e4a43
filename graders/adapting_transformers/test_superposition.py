"""Question 2.2: queries that copy and average values, and a matrix that takes an average apart.

What comes back is judged by what attention does with it, never by its form: any scale, any sum of vectors, any M.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viva.grading import Disagreement, agree, number, visibility, weight

Array = NDArray[np.float64]
NEAR = 1e-3
"""How far a component of the output may be from what is asked."""
HADAMARD: Array = np.array([[1.0, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]])


@dataclass(frozen=True)
class Asked:
    """One query that was asked for: the values it is to mix in equal parts, and what came back."""

    name: str
    wanted: tuple[int, ...]
    K: Array
    V: Array
    returned: Any


@number("2.2.1")
@weight(3)
def test_copy_query(student: Any, key: Any, rng: np.random.Generator) -> None:
    """With the query for j, attention returns v_j."""
    asked = [copying(student, rng, K, j) for K, j in [(np.eye(3), 0), (np.eye(3), 2), (fan(13), 5), (fan(13), 12)]]
    asked += [copying(student, rng, K, 9) for K in (unit_keys(rng, 64, 256), pairs(rng), cone(rng), aside(rng))]
    asked += [copying(student, rng, np.array(K), 0) for K in ([[0.6, 0.8]], [[-1.0], [1.0]])]
    judge(asked, key)


@number("2.2.1")
@weight(1)
@visibility("after_published")
def test_copy_query_on_random_keys(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Random keys of norm 1, and keys with cosines of 0.89.

    Try keys that are similar to each other, and check how much weight the other keys get.
    """
    asked = []
    for n, h in [(2, 8), (int(rng.integers(3, 64)), int(rng.integers(16, 257))), (64, 32)]:
        asked.append(copying(student, rng, unit_keys(rng, n, h), int(rng.integers(n))))
    judge([*asked, *[copying(student, rng, K, int(rng.integers(64))) for K in (pairs(rng), cone(rng))]], key)


@number("2.2.2")
@weight(1)
def test_extraction_matrix_by_hand(submission: Any) -> None:
    """A matrix that takes v_a out of the average, for the printed subspaces."""
    M = np.asarray(submission.answers["2.2.2"])
    A, B = np.array([[0.6], [0.8], [0.0]]), np.array([[0.0], [0.0], [1.0]])
    check_extraction(M, A, B, "your matrix times the average of v_a and v_b")


@number("2.2.2")
@weight(3)
def test_extraction_matrix(student: Any, rng: np.random.Generator) -> None:
    """M · ½(v_a + v_b) = v_a for all v_a in A and all v_b orthogonal to A."""
    line = np.array([[1.0], [0.0], [0.0]])
    plane = np.array([[0.6, 0.0], [0.8, 0.0], [0.0, 1.0], [0.0, 0.0]])
    whole = [(np.eye(1), np.zeros((1, 0))), (np.eye(2), np.zeros((2, 0))), subspaces(rng, 5, 5, 0)]
    for A, B in [
        *whole,
        (line, np.eye(3)[:, 1:]),
        (plane, np.eye(4)[:, 3:]),
        subspaces(rng, 8, 3, 4),
        subspaces(rng, 4, 3, 1),
    ]:
        ask_extraction(student, A, B)


@number("2.2.2")
@weight(2)
@visibility("after_published")
def test_extraction_matrix_on_random_subspaces(student: Any, rng: np.random.Generator) -> None:
    """Random subspaces of all sizes; M sends all of B to zero.

    Try subspaces of one dimension and of several, and multiply your matrix with vectors of both.
    """
    for d in rng.integers(2, 33, 4).tolist():
        m = int(rng.integers(1, d))
        A, B = subspaces(rng, d, m, int(rng.integers(1, d - m + 1)))
        ask_extraction(student, A, B)


@number("2.2.3")
@weight(4)
def test_averaging_query(student: Any, key: Any, rng: np.random.Generator) -> None:
    """With the query for a and b, attention returns ½(v_a + v_b)."""
    asked = []
    sizes = [(2, 2, 1, 0), (3, 3, 0, 2), (10, 64, 0, 1), (10, 64, 7, 3), (64, 64, 5, 60), (64, 256, 63, 0)]
    for n, h, a, b in sizes:
        asked.append(averaging(student, rng, orthonormal_keys(rng, n, h), a, b))
    judge(asked, key)


@number("2.2.3")
@weight(2)
@visibility("after_published")
def test_averaging_query_on_random_keys(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Random orthonormal keys.

    Try other pairs of keys and more keys, and print the weights after softmax.
    """
    asked = []
    for h in (4, 48, 256, int(rng.integers(20, 200))):
        n = int(rng.integers(3, min(h, 64) + 1))
        a, b = rng.choice(n, 2, replace=False).tolist()
        asked.append(averaging(student, rng, orthonormal_keys(rng, n, h), a, b))
    judge(asked, key)


def copying(student: Any, rng: np.random.Generator, K: Array, j: int) -> Asked:
    n, h = K.shape
    name = f"copy_query(K, {j}) for {n} keys of {h} components"
    return Asked(name, (j,), K, rng.standard_normal((n, 3)), student.copy_query(K, j))


def averaging(student: Any, rng: np.random.Generator, K: Array, a: int, b: int) -> Asked:
    n, h = K.shape
    name = f"averaging_query(K, {a}, {b}) for {n} keys of {h} components"
    return Asked(name, (a, b), K, rng.standard_normal((n, 3)), student.averaging_query(K, a, b))


def judge(asked: list[Asked], key: Any) -> None:
    """Pass if attention returns what was wanted each time; half of the points if only the scale is too small."""
    problems = [problem for one in asked if (problem := problem_of(one, key)) is not None]
    if problems:
        raise min(problems, key=lambda problem: (problem[1].share or 0, problem[0]))[1]


def problem_of(asked: Asked, key: Any) -> tuple[float, Disagreement] | None:
    """Return what is wrong with a query, after the weight that the wanted values get; None if nothing is."""
    q = query_of(asked)
    weights = key.query_weights(q, asked.K)
    wanted = np.zeros(len(weights))
    wanted[list(asked.wanted)] = 1 / len(asked.wanted)
    if np.abs((weights - wanted) @ asked.V).max() < NEAR:
        return None
    shown = " and ".join(f"v_{i} a weight of {weights[i]:.3g}" for i in asked.wanted)
    text = f"With {asked.name}, attention gives {shown}; expected {wanted.max():g}{' each' * (len(asked.wanted) > 1)}."
    others = np.delete(weights, asked.wanted)
    chosen = weights[list(asked.wanted)]
    if others.size and chosen.min() > others.max() and np.ptp(chosen) <= 1e-6 * chosen.max():
        rest = f"{others.size} keys keep" if others.size > 1 else "key keeps"
        why = (
            f"The direction is right, but the scores are divided by √h = {np.sqrt(len(q)):.3g}, and the other {rest} "
            f"{others.sum():.3g}: multiply the query by a larger factor."
        )
        return float(chosen.sum()), Disagreement(f"{text} {why}", share=Fraction(1, 2))
    return float(chosen.sum()), Disagreement(f"{text} {reason(asked, weights)}")


def reason(asked: Asked, weights: Array) -> str:
    """Return what the weights say about a query of the wrong direction."""
    top = int(weights.argmax())
    if np.ptp(weights) < 1e-9:
        return "All keys get the same weight: the query is orthogonal to each of them, or zero."
    if top not in asked.wanted:
        return f"The key most similar to your query is k_{top}."
    if len(asked.wanted) > 1 and weights[top] > 0.99:
        return f"This copies v_{top}: both keys need the same inner product with the query."
    return f"The largest weight is {weights[top]:.3g}, on v_{top}."


def query_of(asked: Asked) -> Array:
    """Return the student's query as finite numbers (h,), also where it came as one row or one column."""
    h = asked.K.shape[1]
    q = np.asarray(asked.returned)
    if q.shape in ((1, h), (h, 1)):
        q = q.reshape(h)
    assert q.shape == (h,), f"{asked.name} has shape {q.shape}; expected ({h},)."
    assert q.dtype.kind in "fiu", f"{asked.name} holds no numbers."
    assert np.isfinite(q).all(), f"{asked.name} holds infinity or NaN; a large finite factor is enough."
    return q.astype(np.float64)


def ask_extraction(student: Any, A: Array, B: Array) -> None:
    d, m = A.shape
    M = np.asarray(student.extraction_matrix(A))
    hint = " 2AᵀA has this shape; the basis vectors are the columns of A_basis, so the projection is AAᵀ."
    assert M.shape == (d, d), (
        f"extraction_matrix has shape {M.shape} for an A_basis of shape ({d}, {m}); expected ({d}, {d})."
        f"{hint if M.shape == (m, m) else ''}"
    )
    case = f" = {A.tolist()}" if A.size <= 8 else f" of shape ({d}, {m})"
    check_extraction(M, A, B, f"M · ½(v_a + v_b) for A_basis{case}")


def check_extraction(M: Array, A: Array, B: Array, name: str) -> None:
    """Each v_a is a basis vector of A, alone and with each basis vector of B: they decide M on all of A and B."""
    m, p = A.shape[1], B.shape[1]
    v_a = np.repeat(A, p + 1, axis=1)
    v_b = np.tile(np.hstack([np.zeros((len(A), 1)), B]), m)
    average = (v_a + v_b) / 2
    projection = A @ A.T
    hints = {
        "the factor 2 is missing: the average holds only half of v_a": projection @ average,
        "the factor is ½ where it should be 2": projection @ average / 2,
        "M takes v_b out, not v_a": v_b,
        "M gives the sum v_a + v_b": v_a + v_b,
        "M gives the average back": average,
        "M gives zero": 0 * v_a,
    }
    agree(M @ average, v_a, hints=hints, name=name, rtol=1e-4, atol=1e-5)


def unit_keys(rng: np.random.Generator, n: int, h: int) -> Array:
    """Keys of norm 1 (n, h), no two with a cosine above 0.8."""
    while True:
        K = rng.standard_normal((n, h))
        K /= np.linalg.norm(K, axis=1, keepdims=True)
        if (K @ K.T - np.eye(n)).max() < 0.8:
            return K


def fan(n: int) -> Array:
    """n keys in the plane, evenly round the circle: for 13 of them neighbours have a cosine of 0.885."""
    angles = 2 * np.pi * np.arange(n) / n
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def pairs(rng: np.random.Generator) -> Array:
    """64 keys of 256 components in 32 pairs with a cosine of 0.89; keys of different pairs are orthogonal."""
    basis = np.linalg.qr(rng.standard_normal((256, 64)))[0].T
    basis[1::2] = 0.89 * basis[::2] + np.sqrt(1 - 0.89**2) * basis[1::2]
    return basis


def aside(rng: np.random.Generator) -> Array:
    """A cone with two keys aside: the neighbour of key 9 is much farther from the mean of all keys than key 9 is."""
    K = cone(rng)
    axis = K.mean(axis=0) / np.linalg.norm(K.mean(axis=0))
    outward = K[10] - K[10] @ axis * axis
    K[10] = outward / np.linalg.norm(outward)
    K[9] = 0.89 * K[10] + np.sqrt(1 - 0.89**2) * axis
    return K


def cone(rng: np.random.Generator) -> Array:
    """64 keys of 256 components, each two of them with a cosine of 0.895: the most that copying is asked for."""
    basis = np.linalg.qr(rng.standard_normal((256, 65)))[0].T
    K: Array = np.sqrt(0.895) * basis[0] + np.sqrt(1 - 0.895) * basis[1:]
    return K


def orthonormal_keys(rng: np.random.Generator, n: int, h: int) -> Array:
    """Keys (n, h) that are orthonormal in floating point too: their components are 0 and ± powers of two.

    So no factor is too large: keys from a QR decomposition would break the tie of a and b for a factor of 10¹⁶.
    """
    block: Array = np.ones((1, 1))
    while h % (4 * len(block)) == 0:
        block = np.asarray(np.kron(HADAMARD / 2, block), dtype=np.float64)
    K: Array = np.kron(np.eye(h // len(block)), block) * rng.choice([-1.0, 1.0], h)
    return K[rng.permutation(h)[:n]][:, rng.permutation(h)]


def subspaces(rng: np.random.Generator, d: int, m: int, p: int) -> tuple[Array, Array]:
    """Orthonormal bases of A (d, m) and of B (d, p), as columns, orthogonal to each other."""
    basis = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return basis[:, :m], basis[:, m : m + p]
