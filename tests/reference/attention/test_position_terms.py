"""reference/attention/position_terms.py: the identities with sympy, the size of the cross terms by Monte Carlo."""

import numpy as np
import sympy

from reference.attention.position_terms import cross_terms, dot_add, dot_concat


def test_identities_hold_symbolically() -> None:
    x1, p1, x2, p2 = (sympy.Matrix(sympy.symbols(f"{name}_:3")) for name in ("x", "p", "y", "r"))
    added = (x1 + p1).dot(x2 + p2)
    concatenated = sympy.Matrix([*x1, *p1]).dot(sympy.Matrix([*x2, *p2]))
    assert sympy.expand(added - concatenated - x1.dot(p2) - p1.dot(x2)) == 0
    assert sympy.expand(concatenated - x1.dot(x2) - p1.dot(p2)) == 0


def test_functions_equal_the_sums_term_by_term() -> None:
    rng = np.random.default_rng(1)
    for d in (1, 4, 9):
        vectors = rng.standard_normal((4, d))
        x1, p1, x2, p2 = ([float(entry) for entry in vector] for vector in vectors)
        words = sum(a * b for a, b in zip(x1, x2, strict=True))
        positions = sum(a * b for a, b in zip(p1, p2, strict=True))
        crossed = sum(a * b for a, b in zip(x1 + p1, p2 + x2, strict=True))
        np.testing.assert_allclose(dot_concat(x1, p1, x2, p2), words + positions)
        np.testing.assert_allclose(cross_terms(x1, p1, x2, p2), crossed)
        np.testing.assert_allclose(dot_add(x1, p1, x2, p2), words + positions + crossed)


def test_position_embeddings_of_another_size_can_be_concatenated() -> None:
    assert dot_concat([1, 2], [3], [4, 5], [6]) == 1 * 4 + 2 * 5 + 3 * 6


def test_cross_terms_have_mean_zero_and_grow_like_the_root_of_the_dimension() -> None:
    """For independent entries of variance 1: mean 0 and variance 2d, next to x1·x1 of about d."""
    rng = np.random.default_rng(2)
    for d in (8, 128):
        draws = rng.standard_normal((4, 20_000, d))
        terms = np.array([cross_terms(*vectors) for vectors in draws.transpose(1, 0, 2)])
        assert abs(terms.mean()) < 5 * np.sqrt(2 * d / len(terms))
        np.testing.assert_allclose(terms.var(), 2 * d, rtol=0.06)


def test_addition_can_be_read_as_concatenation_only_without_cross_terms() -> None:
    """Words orthogonal to positions (two subspaces) make both the same, exactly."""
    rng = np.random.default_rng(3)
    basis, _ = np.linalg.qr(rng.standard_normal((8, 8)))
    x1, x2 = (basis[:, :5] @ rng.standard_normal((5, 2))).T
    p1, p2 = (basis[:, 5:] @ rng.standard_normal((3, 2))).T
    np.testing.assert_allclose(dot_add(x1, p1, x2, p2), dot_concat(x1, p1, x2, p2), atol=1e-12)
