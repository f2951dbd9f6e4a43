"""Question 1.4: modified precision, brevity penalty, BLEU."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from viva.grading import agree, agree_number, agree_on, number, strategies, visibility, weight

Tokens = Sequence[str]

words = str.split

FERRY = words("on the morning the ferry to the island leaves at eight sharp")
TIMETABLES = [
    words("on monday morning the ferry to the island leaves at eight sharp"),
    words("every week on monday one boat sails from the harbour to that small island at eight"),
]
BY_HAND = {
    # quantity: a known mistake and its result
    "P1": {"the counts are not clipped": 1.0},
    "P2": {},
    "P3": {},
    "P4": {},
    "BP": {"the length of the longest reference was used": math.exp(1 - 16 / 12)},
    "BLEU": {"the arithmetic mean was taken": 0.828157},
}


@number("1.4")
@weight(3)
@pytest.mark.parametrize("quantity", list(BY_HAND))
def test_bleu_by_hand(submission: Any, key: Any, quantity: str) -> None:
    """P1 to P4, the brevity penalty and BLEU of the ferry sentence, by hand."""
    question = f"1.4.{quantity}"
    words_only = float(Fraction(key.answers[question]))
    both = (words_only, key.with_full_stop[question])  # the question does not say whether the full stop is a token
    accepted = [*both, *(100 * value for value in both)]  # sacrebleu prints per cent
    agree_number(submission.answers[question], words_only, rtol=6e-4, accept=accepted, hints=BY_HAND[quantity])


@number("1.4")
@weight(2)
def test_modified_precision(student: Any, key: Any) -> None:
    """Modified precision clips each n-gram at its largest count in any single reference."""
    for candidate, references, n in [
        (["the"] * 7, [words("the cat is on the mat"), words("there is a cat on the mat")], 1),
        (words("a b a b a"), [words("a b a c"), words("b a b")], 2),
        (words("a a a a"), [words("a a a"), words("a a")], 2),  # n-grams overlap
        (words("sea shore"), [words("seas hore"), words("a sea shores")], 2),  # tokens, not letters, are compared
        (words("at sea now"), [words("a tsea now")], 2),
        (words("b a d c"), [words("a b c d")], 2),  # in their order
        (words("The ferry"), [words("the ferry")], 1),  # and they are compared as they are
        (words("at 8 : the end . ."), [words("the end . 8 ;"), words("at 8 .")], 1),  # so are signs and digits
        (words("a b"), [words("c"), words("d"), words("e"), words("b a")], 1),  # the last reference counts as well
        (["so"] * 300, [["so"] * 260, ["so"] * 280], 1),
        *((FERRY, TIMETABLES, n) for n in (1, 2, 3, 4)),
    ]:
        expected = key.modified_precision(candidate, references, n)
        hints = {
            "the counts are not clipped": unclipped(candidate, references, n),
            "each distinct n-gram is counted once": distinct(candidate, references, n),
            "the counts of the references are added up": clipped_at_the_sum(candidate, references, n),
            "tokens are joined without a sign between them": letters_compared(key, candidate, references, n),
        }
        actual = student.modified_precision(candidate, references, n)
        agree_ratio(actual, expected, hints, f"modified_precision({brief(candidate)}, {brief(references)}, {n})")
    if isinstance(actual, list | tuple | np.ndarray):  # a ratio has no value where there is no n-gram
        too_short = student.modified_precision(words("the ferry"), TIMETABLES, 3)
        # Some count one n-gram where there is none, so that they need not divide by zero.
        expected = (0, 1) if np.array_equal(too_short, (0, 1)) else (0, 0)
        agree(
            too_short, expected, name=f"modified_precision(['the', 'ferry'], {brief(TIMETABLES)}, 3), without a 3-gram,"
        )


@number("1.4")
@weight(2)
def test_brevity_penalty(student: Any, key: Any) -> None:
    """The brevity penalty compares with the reference closest in length, and never rewards length."""
    rows: list[tuple[int, tuple[int, ...]]] = [
        (12, (12, 16)),
        (10, (7, 12, 20)),
        (10, (4, 15, 11)),
        (4, (9,)),
        (9, (4,)),
        (7, (7,)),
        (6, (3, 7)),
        (1, (1, 4)),
        (1, (3,)),
        (3, (120, 200)),
    ]
    rows += [(8, (10, 6)), (8, (6, 10))]  # equally close: the shorter counts
    for candidate_length, lengths in rows:
        candidate, references = ["x"] * candidate_length, [["x"] * length for length in lengths]
        c = candidate_length
        hints = {
            "of two references that are equally close the shorter counts": penalty(
                c, min(lengths, key=lambda length: (abs(length - c), -length))
            ),
            "the shortest reference was used, not the closest in length": penalty(c, min(lengths)),
            "the longest reference was used, not the closest in length": penalty(c, max(lengths)),
            "the mean length of the references was used, not the closest": penalty(c, sum(lengths) / len(lengths)),
            "the ratio is upside down: exp(1 - r/c), with c the candidate's length": math.exp(
                1 - c / closest(c, lengths)
            ),
            "a long candidate is rewarded: the penalty is never above 1": math.exp(1 - closest(c, lengths) / c),
        }
        name = f"brevity_penalty of {c} tokens against references of {', '.join(map(str, lengths))}"
        agree(
            student.brevity_penalty(candidate, references),
            key.brevity_penalty(candidate, references),
            hints=hints,
            name=name,
        )


@number("1.4")
@weight(1)
def test_bleu(student: Any, key: Any) -> None:
    """BLEU is the brevity penalty times the geometric mean of the modified precisions."""
    hints = {
        "the counts are not clipped": lambda c, r, n: combined(unclipped, c, r, n),
        "each distinct n-gram is counted once": lambda c, r, n: combined(distinct, c, r, n),
        "the mean is arithmetic, not geometric": lambda c, r, n: arithmetic(key, c, r, n),
        "the brevity penalty is missing": lambda c, r, n: key.bleu(c, r, n) / key.brevity_penalty(c, r),
    }
    candidates, one_reference = strategies.token_lists(low=1, high=5), strategies.reference_lists(high=5, most=1)
    agree_on(student.bleu, key.bleu, candidates, one_reference, strategies.lengths(2, 2), examples=15, hints=hints)
    agree(student.bleu(FERRY, TIMETABLES), key.bleu(FERRY, TIMETABLES), name="BLEU of the ferry sentence")
    six = student.bleu(FERRY, TIMETABLES, 6)
    agree(six, key.bleu(FERRY, TIMETABLES, 6), name="BLEU of the ferry sentence with 6 orders")
    brief_candidate, longer = words("the ferry leaves"), [words("the ferry leaves at eight")]
    for max_n in (4, 3, 1):  # three tokens have no 4-gram, so that order has no match
        name = f"bleu({brief_candidate}, {longer}, {max_n})"
        agree(student.bleu(brief_candidate, longer, max_n), key.bleu(brief_candidate, longer, max_n), name=name)


@number("1.4")
@weight(2)
@visibility("after_published")
def test_bleu_on_random_sentences(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Precision, penalty and BLEU of random sentences with two or three references.

    Try a candidate that is shorter than every reference, repeated words, and references of different lengths.
    """
    pairs = [damaged_copies(rng, size) for size in (5, 7, 9, 14)]
    questions = [(*pair, n) for pair, n in zip(pairs, (1, 2, 3, int(rng.integers(1, 5))), strict=True)]
    for actual, question in zip(student.modified_precision.each(questions), questions, strict=True):
        agree_ratio(actual, key.modified_precision(*question), {}, "precision")
    agree(student.brevity_penalty.each(pairs), [key.brevity_penalty(*pair) for pair in pairs])
    questions = [(*pair, max_n) for pair in pairs for max_n in (2, 4)]
    agree(student.bleu.each(questions), [key.bleu(*question) for question in questions], atol=1e-9)


def agree_ratio(actual: Any, matches_and_total: tuple[int, int], hints: dict[str, tuple[int, int]], name: str) -> None:
    """Compare a pair (matches, total), or the one number that is their ratio: both are right."""
    if isinstance(actual, list | tuple | np.ndarray):
        agree(actual, matches_and_total, hints=hints, name=name)
    else:
        ratios = {hint: matches / total for hint, (matches, total) in hints.items()}
        agree(actual, matches_and_total[0] / matches_and_total[1], hints=ratios, name=name)


def brief(tokens: Any) -> str:
    """Return a candidate or references as the message shows them: in full, but for those that repeat one word."""
    if tokens in (FERRY, TIMETABLES):
        return "the ferry sentence" if tokens == FERRY else "its two references"
    if len(tokens) > 9:
        return f"['{tokens[0]}'] * {len(tokens)}"
    return str(tokens) if isinstance(tokens[0], str) else f"[{', '.join(map(brief, tokens))}]"


def damaged_copies(rng: np.random.Generator, size: int) -> tuple[list[str], list[list[str]]]:
    """Return a candidate and references like it on which every known mistake shows.

    The candidate repeats a token more often than any reference does; of the references, the closest in length is longer
    than the candidate and another is shorter; no two are equally close, so there is no tie to break.
    """
    tokens = [str(token) for token in rng.choice(list("abc"), size)]
    place = int(rng.integers(size + 1))
    candidate, once = [*tokens[:place], "z", "z", *tokens[place:]], [*tokens[:place], "z", *tokens[place:]]
    longer, shorter = [*once, "d", "e"], once[:-1]  # by 1 and by 2 tokens
    references = [longer, shorter, [*once, *rng.choice(list("abc"), 5).tolist()]][: int(rng.integers(2, 4))]
    return candidate, [references[int(index)] for index in rng.permutation(len(references))]


# What students get wrong, computed for the same question, so that a message can name it.


def ngrams(tokens: Tokens, n: int) -> list[tuple[str, ...]]:
    return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


def unclipped(candidate: Tokens, references: Sequence[Tokens], n: int) -> tuple[int, int]:
    known = {gram for reference in references for gram in ngrams(reference, n)}
    grams = ngrams(candidate, n)
    return sum(gram in known for gram in grams), len(grams)


def distinct(candidate: Tokens, references: Sequence[Tokens], n: int) -> tuple[int, int]:
    grams = set(ngrams(candidate, n))
    return len(grams & {gram for reference in references for gram in ngrams(reference, n)}), len(grams)


def clipped_at_the_sum(candidate: Tokens, references: Sequence[Tokens], n: int) -> tuple[int, int]:
    ceiling = Counter(gram for reference in references for gram in ngrams(reference, n))
    counts = Counter(ngrams(candidate, n))
    return (counts & ceiling).total(), counts.total()


def letters_compared(key: Any, candidate: Tokens, references: Sequence[Tokens], n: int) -> Any:
    def joined(tokens: Tokens) -> list[str]:
        return ["".join(gram) for gram in ngrams(tokens, n)]

    return key.modified_precision(joined(candidate), [joined(reference) for reference in references], 1)


def closest(length: int, lengths: Sequence[int]) -> int:
    return min(lengths, key=lambda other: abs(other - length))


def penalty(c: float, r: float) -> float:
    return 1.0 if c > r else math.exp(1 - r / c)


def combined(
    precision: Callable[..., tuple[int, int]], candidate: Tokens, references: Sequence[Tokens], max_n: int
) -> float:
    """BLEU with another idea of precision."""
    ratios = [precision(candidate, references, n) for n in range(1, max_n + 1)]
    if any(matches == 0 for matches, _ in ratios):
        return 0.0
    r = closest(len(candidate), [len(reference) for reference in references])
    return penalty(len(candidate), r) * math.prod(matches / total for matches, total in ratios) ** (1 / max_n)


def arithmetic(key: Any, candidate: Tokens, references: Sequence[Tokens], max_n: int) -> float:
    ratios = [key.modified_precision(candidate, references, n) for n in range(1, max_n + 1)]
    mean = sum(matches / max(1, total) for matches, total in ratios) / max_n
    return float(key.brevity_penalty(candidate, references) * mean)
