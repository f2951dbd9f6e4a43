"""Questions 3a to 3c: Bayes' rule, what a miscalibrated classifier does to it, and the best of n samples."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from viva.grading import agree, number, visibility, weight

Array = NDArray[np.floating[Any]]

P = np.array([0.45, 0.3, 0.2, 0.05])
P_A = np.array([0.1, 0.6, 0.2, 0.9])
"""Four sentences; the one most likely to have the attribute is the least probable."""


@number("3a")
@weight(1)
def test_posterior(student: Any, key: Any) -> None:
    """p(x | a) is p(a | x) p(x), divided by its sum over all sentences."""
    for p_lm, p_a in [
        (P, P_A),
        (np.array([0.5, 0.5]), np.array([0.2, 0.6])),
        (P, np.array([0.0, 1.0, 1.0, 0.0])),
        (np.array([0.5, 0.0, 0.5]), np.array([0.2, 0.6, 0.4])),
        (np.array([1.0]), np.array([0.3])),
        (P, np.ones(4)),
        (P, 1e-10 * P_A),  # an attribute that is rare in every sentence
    ]:
        hints = posterior_mistakes(p_lm, p_a)
        name = f"posterior({p_lm.tolist()}, {p_a.tolist()})"
        agree(student.posterior(p_lm, p_a), key.posterior(p_lm, p_a), hints=hints, name=name)


@number("3a")
@weight(1)
@visibility("after_published")
def test_posterior_of_random_models(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Random language models of up to 60 sentences; the posterior sums to 1.

    Try attributes with probability 0, and check that your probabilities sum to 1.
    """
    questions = [(rng.dirichlet(np.ones(n)), rng.random(n)) for n in (3, 17, 60)]
    for actual, question in zip(student.posterior.each(questions), questions, strict=True):
        agree(actual, key.posterior(*question))


@number("3b")
@weight(1)
def test_a_miscalibrated_classifier_moves_the_posterior(student: Any, key: Any) -> None:
    """With an overconfident classifier KL(p(x|a) ‖ yours) > 0; a constant factor in p(a|x) does no harm."""
    exact = key.posterior(P, P_A)
    overconfident = P_A**3 / (P_A**3 + (1 - P_A) ** 3)
    for p_clf, low, high in [(overconfident, 0.05, 1.0), (P_A / 2, -1e-6, 1e-6)]:
        actual = np.asarray(student.posterior(P, p_clf), dtype=float)
        agree(actual, key.posterior(P, p_clf), hints=posterior_mistakes(P, p_clf), name="posterior with a classifier")
        divergence = key.kl_divergence(exact, actual)
        assert low < divergence < high, f"The divergence is {divergence:.3g}; expected between {low:g} and {high:g}."


@number("3c")
@weight(1)
def test_best_of_n(student: Any, key: Any) -> None:
    """The exact probability of each sentence to be the best of n samples, computed without drawing."""
    score = np.array([0.7, 0.1, 0.9, 0.4])
    for n in (1, 2, 3, 10, 200):
        expected = key.best_of_n_distribution(P, score, n)
        hints = {
            "this is p(x|a); keeping the best is not drawing in proportion to the score": key.posterior(P, score),
            "this is p itself": P,
            "the lowest score is kept, not the highest": key.best_of_n_distribution(P, -score, n),
            "this is P(no sample scores higher); subtract P(every sample scores lower)": at_most(P, score) ** n,
            "this is n·p·Fⁿ⁻¹, which holds for densities only": n * P * at_most(P, score) ** (n - 1),
            "this is pⁿ: the probability that all n samples are this sentence": P**n,
            "this is pⁿ, normalised: the scores are not used": P**n / (P**n).sum(),
        }
        actual = student.best_of_n_distribution(P, score, n)
        agree(actual, expected, hints=hints, name=f"best_of_n_distribution({P.tolist()}, {score.tolist()}, {n})")


@number("3c")
@weight(1)
def test_best_of_n_is_not_the_posterior(student: Any, key: Any) -> None:
    """With the true p(a|x) as the score: far from p(x|a) for one sample and for many, where p(a|x) alone decides."""
    exact = key.posterior(P, P_A)
    for n in (1, 4096):
        actual = np.asarray(student.best_of_n_distribution(P, P_A, n), dtype=float)
        agree(actual.shape, P.shape, name="the shape of best_of_n_distribution")
        agree(actual.sum(), 1.0, name="the sum of best_of_n_distribution")
        assert (actual >= 0).all(), f"No probability is negative; yours for n = {n} are {actual.tolist()}."
        distance = key.total_variation(actual, exact)
        assert distance > 0.2, (
            f"For n = {n} your distribution is {distance:.3f} (total variation) from p(x|a); expected more than 0.2: "
            "keeping the best is not drawing from p(x|a)."
        )
    likely = int(np.argmax(actual))
    assert actual[likely] > 0.99 and likely == int(np.argmax(P_A)) != int(np.argmax(exact)), (
        f"For n = 4096 the sentence that is kept should be the one with the highest p(a|x), {int(np.argmax(P_A))}; "
        f"yours gives {likely} with probability {actual[likely]:.3f}."
    )


@number("3c")
@weight(1)
@visibility("after_published")
def test_best_of_n_of_random_models(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Random models and scores, positive and negative.

    Try negative scores, ties, and n = 1.
    """
    questions = [(rng.dirichlet(np.ones(size)), rng.normal(0, 3, size), n) for size in (2, 9, 30) for n in (1, 4, 25)]
    questions += [(rng.dirichlet(np.ones(60)), np.sort(rng.random(60))[::-1] * 1e-3, n) for n in (2, 1000)]
    questions.append((np.array([1 - 2.0**-10, 2.0**-10]), np.array([0.1, 0.9]), 5000))  # the best is rarely drawn
    for actual, question in zip(student.best_of_n_distribution.each(questions), questions, strict=True):
        agree(actual, key.best_of_n_distribution(*question))


# What students get wrong, computed for the same question, so that a message can name it.


def posterior_mistakes(p_lm: Array, p_a: Array) -> dict[str, Array]:
    joint = p_lm * p_a
    return {
        "it is not divided by p(a), the sum over all sentences": joint,
        "p(x) is missing: this is p(a|x), normalised": p_a / p_a.sum(),
        "p(a) is the sum of p(a|x) p(x), not of p(a|x)": joint / p_a.sum(),
        "this is p(x): the attribute is not used": p_lm,
        "divide by p(a); multiplied here": joint * joint.sum(),
    }


def at_most(p: Array, score: Array) -> Array:
    """P(score of a sample ≤ that of each sentence)."""
    return np.array([p[score <= own].sum() for own in score])
