"""reference/generation/bleu.py against sacrebleu, nltk and the audit's figures."""

import math
import random
from fractions import Fraction

import pytest
import sacrebleu

from reference.generation.bleu import bleu, brevity_penalty, closest_reference_length, modified_precision

words = str.split

REFERENCES = [
    words("on monday morning the ferry to the island leaves at eight sharp"),
    words("every week on monday one boat sails from the harbour to that small island at eight"),
]
CANDIDATE = words("on the morning the ferry to the island leaves at eight sharp")


def random_case(generator: random.Random) -> tuple[list[str], list[list[str]]]:
    """A candidate that is a damaged copy of its first reference, so that matches of order 4 are common."""
    vocabulary = "abcde"[: generator.randint(2, 5)]
    references = [
        [generator.choice(vocabulary) for _ in range(generator.randint(1, 14))] for _ in range(generator.randint(1, 3))
    ]
    candidate = [t if generator.random() < 0.85 else generator.choice(vocabulary) for t in references[0]]
    for _ in range(generator.randint(0, 3)):
        candidate.insert(generator.randrange(len(candidate) + 1), generator.choice(vocabulary))
    return candidate, references


def test_bleu_equals_sacrebleu_and_nltk() -> None:
    # Imported here: it imports scipy, and each process that collects tests would wait for it.
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    generator = random.Random(1)
    metric = sacrebleu.BLEU(tokenize="none", smooth_method="none", effective_order=False)
    nonzero = 0
    for _ in range(400):
        candidate, references = random_case(generator)
        ours = bleu(candidate, references)
        theirs = metric.corpus_score([" ".join(candidate)], [[" ".join(r)] for r in references])
        assert ours == pytest.approx(theirs.score / 100, abs=1e-12)
        nltk = (
            sentence_bleu(references, candidate, smoothing_function=SmoothingFunction(epsilon=0).method1)
            if ours
            else 0.0
        )
        assert ours == pytest.approx(nltk, abs=1e-12)
        nonzero += ours > 0
    assert nonzero > 150  # the comparison is not one of zeros


def test_precisions_equal_nltk() -> None:
    from nltk.translate.bleu_score import modified_precision as nltk_modified_precision

    generator = random.Random(2)
    for _ in range(200):
        candidate, references = random_case(generator)
        for n in range(1, 5):
            matches, total = modified_precision(candidate, references, n)
            theirs = nltk_modified_precision(references, candidate, n)
            assert (matches, max(1, total)) == (theirs.numerator, theirs.denominator)


@pytest.mark.parametrize(
    ("candidate", "references", "expected"),
    [
        ([], [["a"]], 0.0),
        (["a"], [[]], 0.0),
        (list("abc"), [list("abc")], 0.0),  # no 4-gram, no smoothing
        (list("abcd"), [list("abcd")], 1.0),
        (list("abcd"), [list("abcd"), []], 1.0),
        (list("abcde"), [list("abcdefgh")], math.exp(1 - 8 / 5)),
        (list("aaaa"), [list("aabb")], 0.0),
    ],
)
def test_degenerate_bleu(candidate: list[str], references: list[list[str]], expected: float) -> None:
    assert bleu(candidate, references) == pytest.approx(expected, abs=1e-15)


def test_papineni_example_two() -> None:
    """The paper's own "the the the": clipped at the two of reference 1."""
    candidate = words("the the the the the the the")
    references = [words("the cat is on the mat"), words("there is a cat on the mat")]
    assert modified_precision(candidate, references, 1) == (2, 7)


def test_closest_reference_length() -> None:
    assert closest_reference_length(10, [["x"] * 7, ["x"] * 12, ["x"] * 20]) == 12
    assert closest_reference_length(10, [["x"] * 12, ["x"] * 8]) == 8
    assert brevity_penalty(["x"] * 10, [["x"] * 12, ["x"] * 8]) == 1.0
    assert brevity_penalty(["x"] * 10, [["x"] * 7, ["x"] * 12, ["x"] * 20]) == pytest.approx(math.exp(1 - 12 / 10))


def test_bleu_without_references() -> None:
    with pytest.raises(ValueError, match="empty"):
        bleu(["a"], [])


class TestErrata:
    """The source prints BLEU = 0.8266; the exact value of its own fractions is 0.8265."""

    def test_fractions_of_the_source(self) -> None:
        precisions = [Fraction(*modified_precision(CANDIDATE, REFERENCES, n)) for n in (1, 2, 3, 4)]
        assert precisions == [Fraction(11, 12), Fraction(9, 11), Fraction(8, 10), Fraction(7, 9)]
        assert brevity_penalty(CANDIDATE, REFERENCES) == 1.0

    def test_exact_value(self) -> None:
        product = Fraction(11, 12) * Fraction(9, 11) * Fraction(8, 10) * Fraction(7, 9)
        assert product == Fraction(7, 15)
        assert bleu(CANDIDATE, REFERENCES) == pytest.approx(float(product) ** 0.25, abs=1e-15)
        assert round(bleu(CANDIDATE, REFERENCES), 6) == 0.826517

    def test_full_stop_as_a_token(self) -> None:
        candidate, references = [*CANDIDATE, "."], [[*r, "."] for r in REFERENCES]
        precisions = [modified_precision(candidate, references, n) for n in (1, 2, 3, 4)]
        assert precisions == [(12, 13), (10, 12), (9, 11), (8, 10)]
        assert round(bleu(candidate, references), 6) == 0.842363
        metric = sacrebleu.BLEU(tokenize="13a", smooth_method="none", effective_order=False)
        score = metric.corpus_score([" ".join(CANDIDATE) + "."], [[" ".join(r) + "."] for r in REFERENCES]).score
        assert round(score, 2) == 84.24
