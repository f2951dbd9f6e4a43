"""Questions 1a.ii and 1a.iii: the corruption of masked language modelling."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from graders.bert_lora_fudge.chances import check_independent, radius, uniform, within
from viva.grading import agree, agree_number, number, visibility, weight

Ids = NDArray[np.int64]

V, MASK = 1000, 3
FIRST = 5
"""The ids of ordinary tokens begin here; the text uses the lower half of the vocabulary, random tokens all of it."""
SMALL = 20
"""A vocabulary of which every id has to come as a random token."""
LARGE = 250_000
"""A vocabulary whose ids need more than 16 bits."""
CALLS = 1000
APART = "Decide about each token by itself, whatever becomes of the others."


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
    agree(called["after"][0], ids, name="the argument `ids` after the call", hints=in_place(called, ids))
    agree(called["after"][1], special, name="the argument `special_mask` after the call")
    for inputs, labels in values:
        check_corrupted(inputs, labels, ids, special)
    check_anew([labels for _, labels in values], "")
    for share, none in [(0.0, special), (0.3, np.ones(len(ids), dtype=bool))]:
        inputs, labels = pair(student.mlm_corrupt(ids, none, MASK, V, share, source), len(ids))
        what = f"the {{}} of mlm_corrupt with {'p = 0' if share == 0 else 'special tokens only'}"
        agree(labels, np.full(len(ids), -100), name=what.format("labels"))
        agree(inputs, ids, name=what.format("inputs"))
    special[[0, -1]] = False  # a text may begin and end with ordinary tokens, and be about [MASK]
    ids[4] = MASK
    _, labels = pair(student.mlm_corrupt(ids, special, MASK, V, 1.0, source), len(ids))
    agree(labels, np.where(special, -100, ids), name="the labels of mlm_corrupt with p = 1")
    many, special = text(rng, 60, special_every=8, vocabulary=LARGE)
    inputs, labels = pair(student.mlm_corrupt(many, special, MASK, LARGE, 0.5, source), len(many))
    check_corrupted(inputs, labels, many, special, LARGE)
    check_default(student, inside, rng)
    check_short(student, inside, rng)


def check_default(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """Without p and rng, 15 % are selected, other ones in each call."""
    ids, special = text(rng, 20_000, special_every=8)
    called = inside.kept_apart(student.mlm_corrupt, 3, ids, special, MASK, V)
    agree(called["after"][0], ids, name="without rng, the argument `ids` after the call", hints=in_place(called, ids))
    selected = [pair(value, len(ids))[1] != -100 for value in called["values"]]
    count, ordinary = int(selected[0].sum()), int((~special).sum())
    assert within(count, ordinary, 0.15), (
        f"Without p, mlm_corrupt selected {count / ordinary:.1%} of {ordinary} tokens; expected 15 % ± "
        f"{radius(ordinary, 0.15) / ordinary:.1%}."
    )
    check_anew(selected, "without rng, ")


def check_short(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """In a text of three tokens, as many are selected as in any other: often none."""
    ids, special = rng.integers(FIRST, V // 2, 5), np.array([True, False, False, False, True])
    source = inside.generator.keep(int(rng.integers(2**32)))
    _, labels = inside.stacked(student.mlm_corrupt, 400, ids, special, MASK, V, 0.15, source)
    agree(np.shape(labels), (400, len(ids)), name="the shape of the labels of many calls")
    count = int((np.asarray(labels) != -100).sum())
    assert within(count, 1200, 0.15), (
        f"In 400 texts of three tokens, {count} of 1200 tokens were selected; expected 180 ± {radius(1200, 0.15):.0f}. "
        "A text in which none is selected stays as it is."
    )


def check_anew(selections: list[NDArray[Any]], how: str) -> None:
    """Raise if the same tokens are selected in all calls."""
    assert len({selection.tobytes() for selection in selections}) > 1, (
        f"mlm_corrupt selected the same tokens in {len(selections)} calls; {how}select them by chance in each."
    )


@number("1a.ii")
@weight(2)
def test_shares(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """15 % of the tokens are selected; of these 80 % become [MASK], 10 % a random token, and 10 % stay."""
    check_shares(*corrupt(student, inside, rng, 100_000, 0.15), 0.15)
    check_drawn(*corrupt(student, inside, rng, 60_000, 0.5, SMALL), SMALL)
    check_each_by_itself(student, inside, rng, 0.5)


@number("1a.iii")
@weight(1)
@visibility("after_published")
def test_the_mask_token_is_met_in_pre_training_only(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """With a share p selected, [MASK] is 0.8 p of what the model reads in pre-training; in a task it never occurs.

    Try many tokens, and count how often each kind of replacement occurs.
    """
    for n, p, mask_id in [(40_000, 0.05, 0), (60_000, 0.4, V - 1), (60_000, 0.4, V - 1)]:
        inputs, labels, ids, special = corrupt(student, inside, rng, n, p, mask_id=mask_id)
        assert not (ids == mask_id).any()
        check_shares(inputs, labels, ids, special, p, mask_id)


def text(
    rng: np.random.Generator, n: int, special_every: int = 100, vocabulary: int = V
) -> tuple[Ids, NDArray[np.bool_]]:
    """Ids (token,) and which of them are special: the first, the last, and some in between."""
    ids = rng.integers(FIRST, vocabulary // 2, n)
    special = np.arange(n) % special_every == 0
    special[-1] = True
    ids[special] = 2
    ids[1:5] = [2, 0, 1, 0]  # ids of special tokens where they are none: the argument decides, not the id
    return ids, special


def corrupt(
    student: Any,
    inside: Any,
    rng: np.random.Generator,
    n: int,
    p: float,
    vocabulary: int = V,
    mask_id: int = MASK,
) -> tuple[Ids, Ids, Ids, NDArray[np.bool_]]:
    """Inputs, labels, original ids and special tokens of one long text."""
    ids, special = text(rng, n, vocabulary=vocabulary)
    ids[ids == mask_id] = FIRST
    source = inside.generator.keep(int(rng.integers(2**32)))
    inputs, labels = pair(student.mlm_corrupt(ids, special, mask_id, vocabulary, p, source), n)
    check_corrupted(inputs, labels, ids, special, vocabulary)
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


def check_corrupted(inputs: Ids, labels: Ids, ids: Ids, special: NDArray[np.bool_], vocabulary: int = V) -> None:
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
    if (wrong := (inputs < 0) | (inputs >= vocabulary)).any():
        place = first(wrong)
        raise AssertionError(
            f"Token {place} became {inputs[place]}; the ids of the vocabulary are 0 … {vocabulary - 1}."
        )


def check_shares(inputs: Ids, labels: Ids, ids: Ids, special: NDArray[np.bool_], p: float, mask_id: int = MASK) -> None:
    """Binomial intervals for the number of selected tokens and for what became of them."""
    selected = labels != -100
    count, candidates = int(selected.sum()), int((~special).sum())
    because = ""
    if within(count, candidates, 0.8 * p):
        because = (
            " That is 80 % of what it should be: 80 % of the selected tokens become [MASK], all of them are labelled."
        )
    assert within(count, candidates, p), (
        f"With p = {p:g}, {count / candidates:.2%} of {candidates} tokens were selected; expected {p:.2%} ± "
        f"{radius(candidates, p) / candidates:.2%}.{because}"
    )
    new, old = inputs[selected], ids[selected]
    masked, kept = new == mask_id, new == old
    shares = {"become [MASK]": masked, "stay as they are": kept, "become a random token": ~masked & ~kept}
    wanted = dict(zip(shares, (0.8, 0.1, 0.1), strict=True))
    found = {fate: int(which.sum()) for fate, which in shares.items()}
    for fate, share in wanted.items():
        # A random token may be the original, or [MASK], once in V; a program may also avoid that.
        assert within(found[fate], count, share, 0.1 * count / (V - 2)), (
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


def check_drawn(inputs: Ids, labels: Ids, ids: Ids, special: NDArray[np.bool_], vocabulary: int) -> None:
    """Every id of the vocabulary is as likely a random token; whether [MASK] and the original may come is left open."""
    selected = labels != -100
    new, old = inputs[selected], ids[selected]
    random = (new != MASK) & (new != old)
    # Where each id could be seen: not at its own places. A right program misses one of them with probability e^-100.
    chances = np.bincount(old, minlength=vocabulary)
    seen = np.bincount(new[random], minlength=vocabulary) * len(old) / (len(old) - chances)
    others = np.arange(vocabulary) != MASK
    missing = np.flatnonzero(others & (seen == 0)).tolist()
    assert not missing, (
        f"With V = {vocabulary}, none of {int(random.sum())} random tokens is {missing[0]}; draw from all ids, "
        f"0 … {vocabulary - 1}."
    )
    # Some thirty of each: a right program never replaces one by another with probability 90 e^-30.
    for token in np.flatnonzero(chances > 1000).tolist():
        given = np.bincount(new[random & (old == token)], minlength=vocabulary)
        never = np.flatnonzero(others & (np.arange(vocabulary) != token) & (given == 0)).tolist()
        assert not never, (
            f"With V = {vocabulary}, none of {int(given.sum())} random tokens that replace a {token} is {never[0]}; "
            f"draw from all ids, 0 … {vocabulary - 1}, whatever stood there."
        )
    assert uniform(seen[others]), (
        f"With V = {vocabulary}, the random tokens 0 … {vocabulary - 1} come "
        f"{np.rint(seen).astype(int).tolist()} times; each is as likely."
    )


def check_each_by_itself(student: Any, inside: Any, rng: np.random.Generator, p: float) -> None:
    """Many calls on one short text: neither the selection nor the fate of a token depends on other tokens."""
    ids, special = text(rng, 45, special_every=8, vocabulary=SMALL)
    special[-1] = False
    source = inside.generator.keep(int(rng.integers(2**32)))
    arguments = (ids, special, MASK, SMALL, p, source)
    inputs, labels = (np.asarray(rows) for rows in inside.stacked(student.mlm_corrupt, CALLS, *arguments))
    agree((inputs.shape, labels.shape), ((CALLS, len(ids)),) * 2, name="the shapes of inputs and labels of many calls")
    selected = (labels != -100)[:, ~special]
    check_independent(selected, p, "selected tokens", APART)
    masked = (inputs == MASK)[:, ~special]
    check_independent(masked, p * (0.8 + 0.05 / SMALL), "tokens that become [MASK]", APART)
    check_varies(masked, selected, "of the selected tokens become [MASK]")
    random = (selected & ~masked) & (inputs != ids)[:, ~special]
    check_varies(random, selected & ~masked, "of the selected tokens that do not become [MASK] become a random one")
    # Two random tokens of one call are equal once in SMALL, about a hundred times in all.
    drawn = [row[which] for row, which in zip(inputs[:, ~special], random, strict=True)]
    pairs = sum(len(tokens) * (len(tokens) - 1) / 2 for tokens in drawn)
    equal = sum(float((count * (count - 1)).sum()) / 2 for count in map(np.bincount, drawn))
    assert 0.3 * pairs < equal * SMALL < 2 * pairs, (
        f"With V = {SMALL}, {equal:.0f} of {pairs:.0f} pairs of random tokens of one text are equal; expected about "
        f"{pairs / SMALL:.0f}. Draw each of them by itself."
    )


def check_varies(happened: NDArray[np.bool_], among: NDArray[np.bool_], what: str) -> None:
    """Raise unless the number of events in each call varies as if each of the candidates had decided by itself.

    Of n candidates, each with probability q, the number has the variance n q (1 - q); q is read off all calls. Fixed
    numbers of each fate vary hardly at all.
    """
    share = float(happened.sum() / among.sum())
    assert 0 < share < 1, f"In {CALLS} calls on a short text, {share:.0%} {what}."
    surplus = (happened.sum(axis=1) - share * among.sum(axis=1)) ** 2
    ratio = float(surplus.sum() / (share * (1 - share) * among.sum()))
    assert 0.65 < ratio < 1.5, (  # 1 ± 7 standard errors
        f"How many {what} varies {'less' if ratio < 1 else 'more'} from call to call than by chance (the variance is "
        f"{ratio:.2f} times that). {APART}"
    )


def why_shares(found: list[int], count: int) -> str:
    """Return the known mistake that these numbers of [MASK], kept and random tokens show."""
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


def first(where: NDArray[np.bool_]) -> int:
    return int(np.argmax(where))


def in_place(called: dict[str, Any], ids: Ids) -> dict[str, Any]:
    after = np.asarray(called["after"][0])
    changed = after.shape == ids.shape and (after != ids).any()
    return {"`ids` is changed in place, so that the next epoch finds no original text": after} if changed else {}
