"""Questions 1a.ii, 1a.iii and 1b: the corruption of masked language modelling, and next sentence prediction."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from viva.grading import agree, agree_number, number, visibility, weight

Ids = NDArray[np.int64]
Documents = list[list[str]]

V, MASK = 1000, 3
FIRST = 5
"""The ids of ordinary tokens begin here; the text uses the lower half of the vocabulary, random tokens all of it."""
WIDE = 6.0
"""Standard errors: a right program is further away less than once in a hundred million times."""


@number("1a.ii")
@weight(1)
@pytest.mark.parametrize("fate", ["mask", "random", "kept"])
def test_shares_by_hand(submission: Any, key: Any, fate: str) -> None:
    """The shares of all tokens that become [MASK], become a random token, and are selected but kept."""
    expected = key.answers[f"1a.ii.{fate}"]
    hints = {
        "this is the share of the selected tokens; asked is that of all tokens": expected / 0.15,
        "this is the share of all selected tokens, whatever becomes of them": 0.15,
    }
    agree_number(submission.answers[f"1a.ii.{fate}"], expected, accept=[100 * expected], hints=hints)


@number("1a.ii")
@weight(1)
def test_mlm_corrupt(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """Labels hold the original where a token was selected and -100 elsewhere; special tokens are never selected."""
    ids, special = text(rng, 60, special_every=8)
    source = inside.generator.keep(int(rng.integers(2**32)))
    called = inside.kept_apart(student.mlm_corrupt, 12, ids, special, MASK, V, 0.3, source)
    values = [pair(value, len(ids)) for value in called["values"]]
    check_corrupted(*values[0], ids, special)
    agree(called["first"], ids, name="the argument `ids` after the call", hints=in_place(called, ids))
    for inputs, labels in values:
        check_corrupted(inputs, labels, ids, special)
    chosen = {(labels != -100).tobytes() for _, labels in values}
    assert len(chosen) > 1, "mlm_corrupt selected the same tokens in 12 calls; select them by chance in each."
    ids, special = text(rng, 800, special_every=8)
    _, labels = pair(student.mlm_corrupt(ids, special, MASK, V), len(ids))
    share = float((labels != -100)[~np.asarray(special, dtype=bool)].mean())
    assert 0.05 < share < 0.25, f"Without p, mlm_corrupt selected {share:.0%} of 700 tokens; expected about 15 %."


@number("1a.ii")
@weight(2)
def test_shares(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """15 % of the tokens are selected; of these 80 % become [MASK], 10 % a random token, and 10 % stay."""
    check_shares(*corrupt(student, inside, rng, 100_000, 0.15), 0.15)


@number("1a.iii")
@weight(1)
@visibility("after_published")
def test_the_mask_token_is_met_in_pre_training_only(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """With a share p selected, [MASK] is 0.8 p of what the model reads in pre-training; in a task it never occurs."""
    for n, p in [(40_000, 0.05), (60_000, 0.4)]:
        inputs, labels, ids, special = corrupt(student, inside, rng, n, p)
        assert not (ids == MASK).any()
        check_shares(inputs, labels, ids, special, p)


@number("1b")
@weight(2)
def test_make_nsp_pairs(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """Half of the pairs are a sentence and its successor, the others a sentence and one of another document."""
    source = inside.generator.keep(int(rng.integers(2**32)))
    check_pairs(student.make_nsp_pairs(documents(40, 1, 300, 2, 460), source), documents(40, 1, 300, 2, 460))
    check_pairs(student.make_nsp_pairs(documents(400, 350), source), documents(400, 350))


@number("1b")
@weight(1)
@visibility("after_published")
def test_pairs_of_random_documents(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """Documents of random lengths, many of them short."""
    source = inside.generator.keep(int(rng.integers(2**32)))
    drawn = documents(*rng.integers(1, 30, 40).tolist())
    check_pairs(student.make_nsp_pairs(drawn, source), drawn)


def text(rng: np.random.Generator, n: int, special_every: int = 100) -> tuple[Ids, NDArray[np.bool_]]:
    """Ids (token,) and which of them are special: the first, the last, and some in between."""
    ids = rng.integers(FIRST, V // 2, n)
    special = np.arange(n) % special_every == 0
    special[-1] = True
    ids[special] = 2
    ids[1] = 2  # the same id once where it is no special token: the argument decides, not the id
    return ids, special


def corrupt(
    student: Any, inside: Any, rng: np.random.Generator, n: int, p: float
) -> tuple[Ids, Ids, Ids, NDArray[np.bool_]]:
    """Inputs, labels, original ids and special tokens of one long text."""
    ids, special = text(rng, n)
    source = inside.generator.keep(int(rng.integers(2**32)))
    inputs, labels = pair(student.mlm_corrupt(ids, special, MASK, V, p, source), n)
    check_corrupted(inputs, labels, ids, special)
    return inputs, labels, ids, special


def pair(returned: Any, n: int) -> tuple[Ids, Ids]:
    """Inputs and labels, each (token,), of whole numbers."""
    assert isinstance(returned, list | tuple | np.ndarray) and len(returned) == 2, (
        "mlm_corrupt: expected the pair (inputs, labels)."
    )
    for what, values in zip(("inputs", "labels"), returned, strict=True):
        agree(np.shape(values), (n,), name=f"the shape of the {what} of mlm_corrupt")
    inputs, labels = (np.asarray(values) for values in returned)
    assert inputs.dtype.kind in "iuf" and labels.dtype.kind in "iuf", "mlm_corrupt: expected ids, which are numbers."
    return inputs, labels


def check_corrupted(inputs: Ids, labels: Ids, ids: Ids, special: NDArray[np.bool_]) -> None:
    """Raise with a sentence for the student unless labels and inputs belong together."""
    selected = labels != -100
    if selected[~special].all():
        raise AssertionError("Every token has a label; the label of a token that was not selected is -100.")
    if (wrong := selected & special).any():
        raise AssertionError(
            f"{int(wrong.sum())} of {int(special.sum())} special tokens have a label, the first at {first(wrong)}: "
            "special tokens are never selected."
        )
    if (wrong := selected & (labels != ids)).any():
        place = first(wrong)
        corrupted = (labels[selected] == inputs[selected]).all()
        because = (
            " The labels hold the corrupted tokens; they are to hold what stood there before." if corrupted else ""
        )
        raise AssertionError(f"The label at {place} is {labels[place]}; the token there was {ids[place]}.{because}")
    if (wrong := ~selected & (inputs != ids)).any():
        place = first(wrong)
        raise AssertionError(
            f"Token {place} was {ids[place]} and became {inputs[place]}, but its label is -100: "
            "only tokens that are selected (and so have a label) may be replaced."
        )
    if (wrong := (inputs < 0) | (inputs >= V)).any():
        place = first(wrong)
        raise AssertionError(f"Token {place} became {inputs[place]}; the ids of the vocabulary are 0 … {V - 1}.")


def check_shares(inputs: Ids, labels: Ids, ids: Ids, special: NDArray[np.bool_], p: float) -> None:
    """Binomial intervals for the number of selected tokens and for what became of them."""
    selected = labels != -100
    count, candidates = int(selected.sum()), int((~special).sum())
    slack = p * int(special.sum())  # Google's code counts the special tokens in the budget, and never selects them
    because = ""
    if within(count, candidates, 0.8 * p):
        because = (
            " That is 80 % of what it should be: 80 % of the selected tokens become [MASK], all of them are labelled."
        )
    assert within(count, candidates, p, slack), (
        f"With p = {p:g}, {count / candidates:.2%} of {candidates} tokens were selected; expected {p:.2%} ± "
        f"{radius(candidates, p) / candidates:.2%}.{because}"
    )
    new, old = inputs[selected], ids[selected]
    masked, kept = new == MASK, new == old
    shares = {"become [MASK]": masked, "stay as they are": kept, "become a random token": ~masked & ~kept}
    wanted = dict(zip(shares, (0.8, 0.1, 0.1), strict=True))
    found = {fate: int(which.sum()) for fate, which in shares.items()}
    for fate, share in wanted.items():
        # A random token may be the original, or [MASK], once in V; a program may also avoid that.
        assert within(found[fate], count, share, 2 * count / V), (
            f"Of the selected tokens {found[fate] / count:.1%} {fate}; expected {share:.0%} ± "
            f"{radius(count, share) / count:.1%}.{why_shares(list(found.values()), count)}"
        )
    drawn = new[~masked & ~kept]
    upper = int((drawn >= V // 2).sum())
    assert within(upper, len(drawn), 0.5, 0.01 * len(drawn)), (
        f"{upper / len(drawn):.0%} of the random tokens are from the upper half of the vocabulary; expected about "
        f"50 %: draw from all ids, 0 … {V - 1}."
    )
    assert len(np.unique(drawn)) > min(100, len(drawn) / 4), "The random tokens are always the same few ids."


def why_shares(found: list[int], count: int) -> str:
    """The known mistake that these numbers of [MASK], kept and random tokens show."""
    known = {
        "Every selected token becomes [MASK].": (1.0, 0.0, 0.0),
        "The 10 % of random tokens are drawn among the 20 % that are left, so they are 2 % of the selected ones.": (
            0.8,
            0.18,
            0.02,
        ),
        "The 10 % of kept tokens are drawn among the 20 % that are left, so they are 2 % of the selected ones.": (
            0.8,
            0.02,
            0.18,
        ),
        "The shares of random and kept tokens are not equal: no token is kept.": (0.8, 0.0, 0.2),
        "No token is replaced by a random one.": (0.8, 0.2, 0.0),
        "The three fates are equally likely.": (1 / 3, 1 / 3, 1 / 3),
        "Random tokens overwrite a tenth of the masked ones: decide the fate of each token once.": (0.72, 0.18, 0.1),
    }
    named = [
        why for why, shares in known.items() if all(map(lambda k, s: within(k, count, s, 0.005 * count), found, shares))
    ]
    return f" {named[0]}" if named else ""


def within(successes: int, trials: int, probability: float, slack: float = 0.0) -> bool:
    return abs(successes - trials * probability) <= radius(trials, probability) + slack + 1


def radius(trials: int, probability: float) -> float:
    return WIDE * math.sqrt(trials * probability * (1 - probability))


def first(where: NDArray[np.bool_]) -> int:
    return int(np.argmax(where))


def in_place(called: dict[str, Any], ids: Ids) -> dict[str, Any]:
    after = np.asarray(called["first"])
    changed = after.shape == ids.shape and (after != ids).any()
    return {"`ids` is changed in place, so that the next epoch finds no original text": after} if changed else {}


def documents(*sizes: int) -> Documents:
    """Documents of so many sentences, each a text that says where it stands."""
    return [[f"sentence {place} of text {home}" for place in range(size)] for home, size in enumerate(sizes)]


def check_pairs(returned: Any, texts: Documents) -> None:
    """Raise with a sentence for the student unless the pairs are as the question asks."""
    where = {sentence: (home, place) for home, text in enumerate(texts) for place, sentence in enumerate(text)}
    triples = read_triples(returned)
    wanted = sorted(sentence for text in texts for sentence in text[:-1])
    for a, b, _ in triples:
        assert a in where and b in where, (
            f"make_nsp_pairs returned the pair ({a!r}, {b!r}), which are no two sentences."
        )
        assert where[a][1] + 1 < len(texts[where[a][0]]), f"{a!r} has no successor, so it is no A of a pair."
    assert sorted(a for a, _, _ in triples) == wanted, (
        f"make_nsp_pairs returned {len(triples)} pairs for {len(wanted)} sentences with a successor; "
        "expected each of these once as A."
    )
    successors = [where[b] == (where[a][0], where[a][1] + 1) for a, b, _ in triples]
    says = [is_next for _, _, is_next in triples]
    assert successors != [not s for s in says] or not any(successors), (
        "is_next is turned round: it is true (1) where B follows A."
    )
    for (a, b, is_next), follows in zip(triples, successors, strict=True):
        assert follows or not is_next, f"({a!r}, {b!r}) is marked as next, but B does not follow A."
        assert is_next or not follows, f"({a!r}, {b!r}) is marked as not next, but B follows A: no negative pair."
        assert is_next or where[a][0] != where[b][0], (
            f"({a!r}, {b!r}): the B of a negative pair is a sentence of another document, not of A's own."
        )
    count = sum(says)
    assert within(count, len(triples), 0.5), (
        f"{count} of {len(triples)} pairs are positive; expected half of them ± {radius(len(triples), 0.5):.0f}."
    )
    different = len({b for _, b, is_next in triples if not is_next})
    assert different > min(20, (len(triples) - count) / 4), (
        f"The B of {len(triples) - count} negative pairs is always one of {different} sentences; draw it at random."
    )


def read_triples(returned: Any) -> list[tuple[str, str, bool]]:
    """Triples in any nesting of sequences; the label as a bool, 0 or 1, or the words of the paper."""
    try:
        return [(str(a), str(b), says_next(label)) for a, b, label in returned]
    except (TypeError, ValueError):
        raise AssertionError("make_nsp_pairs: expected a list of triples (A, B, is_next).") from None


def says_next(label: Any) -> bool:
    word = str(label).lower().replace("_", "").replace(" ", "")
    if word in ("true", "1", "1.0", "isnext"):
        return True
    if word in ("false", "0", "0.0", "notnext"):
        return False
    raise ValueError(label)
