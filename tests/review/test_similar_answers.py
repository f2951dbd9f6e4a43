"""Answers that say the same stand together; answers that differ in what turns their meaning never do."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viva.plugins.review.similar_answers import groups
from viva.plugins.review.wording import decisive_tokens, tokens

LONG = (
    "Each query is compared with every key, and the products are divided by the root of the dimension, so that the "
    "softmax stays where its gradient is large, whatever the dimension of the heads may be in a model of that size"
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The mask hides the future.", "the mask  hides\nthe future"),
        ("**The mask** hides *the* `future`!", "The mask hides the future."),
        ("# Answer\n\n- the mask hides\n- the future", "Answer: the mask hides, the future"),
        ("> The mask hides “the future”", 'The mask hides "the future"'),
        ("ﬁnal state", "final state"),
        ("The ＭＡＳＫ", "the mask"),
        ("soft\u00admax\u200b", "softmax"),
        ("it doesn't converge", "it doesn’t converge"),
        ("it doesn't converge", "it does not converge"),
        ("it can't and won't", "it cannot and will not"),
        ("a well-known trick", "a well known trick"),
        ("d_k = 64", "d_k=64"),
        ("x² + y²", "x^2 + y^2"),
        ("δ ≥ √h", "δ>=√h"),
        ("$\\delta \\geq h$", "\\delta \\geq h"),
        ("h₁ − h₂", "h1 - h2"),
        (LONG, LONG.replace("may be", "happens to be")),
        (LONG, f"{LONG}."),
    ],
)
def test_answers_of_one_wording_are_grouped(one: str, other: str) -> None:
    assert groups([one, "something else entirely", other]) == [[0, 2]]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("δ≥√h", "δ≤√h"),
        ("a != b", "a = b"),
        ("10² steps", "102 steps"),
        ("3½ steps", "31/2 steps"),
        (".5 of them", "5 of them"),
        ("1,5", "15"),
        ("-5", "5"),
        ("n!", "n"),
        ("f'(x)", "f(x)"),
        ("a*b*c", "a b c"),
        ("50%", "50"),
        ("a > b", "b > a"),
        ("softmax(QK^T/√d)V", "softmax(QK^T)/√d V"),
        ("\\alpha \\leq \\beta", "\\alpha \\geq \\beta"),
        ("key beats query", "query beats key"),
        ("会收敛", "不收敛"),
        ("😀", "😢"),
    ],
)
def test_short_and_different(one: str, other: str) -> None:
    assert groups([one, other]) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("is compared", "is not compared"),
        ("is compared", "is never compared"),
        ("is compared", "isn't compared"),
        ("stays where its gradient is", "stays where its gradient isnt"),
        ("is compared", "nicht compared"),
        ("so that the", "so that no"),
        ("large", "larger"),
        ("the dimension of", "the 64 dimension of"),
        ("the root of the", "the root > the"),
        ("with every", "without every"),
    ],
)
def test_long_and_different(old: str, new: str) -> None:
    assert groups([LONG, LONG.replace(old, new)]) == []


def test_position_of_a_word() -> None:
    one = LONG.replace("is compared", "is not compared")
    other = LONG.replace("softmax stays", "softmax not stays")
    assert groups([one, other]) == []
    assert groups([f"{LONG} where x < y holds", f"{LONG} where y < x holds"]) == []
    assert groups([f"{LONG}: 1 layer, 2 heads", f"{LONG}: 2 layers, 1 head"]) == []


def test_empty_answers() -> None:
    assert groups(["", "x y z", " \n", "…", "# ?", "\u200b"]) == [[0, 2, 3, 4, 5]]
    assert groups([]) == [] and groups([""]) == []


def test_order_of_groups() -> None:
    assert groups(["b b", "a a", "c", "A a", "b b.", "a a?", "", ""]) == [[1, 3, 5], [0, 4], [6, 7]]


def test_chain_of_answers() -> None:
    """A chain whose ends have little in common: who is near the second only begins a group of its own."""
    words = [f"w{letter}{other}" for letter in "abcdefgh" for other in "abcdefgh"]
    chain = [" ".join(words[start : start + 40]) for start in (0, 4, 8, 12)]
    assert groups(chain) == [[0, 1], [2, 3]]
    assert groups(chain[::-1]) == [[0, 1], [2, 3]]


words = st.sampled_from(["mask", "head", "layer", "token"])
answers = st.lists(words, max_size=12).map(" ".join)


@st.composite
def variants(draw: st.DrawFn) -> list[str]:
    """Draw a few answers, and copies of them with a word changed, removed or added."""
    roots = draw(st.lists(st.lists(words, min_size=1, max_size=40), min_size=1, max_size=4))
    made = []
    for _ in range(draw(st.integers(1, 12))):
        copy = list(draw(st.sampled_from(roots)))
        for _ in range(draw(st.integers(0, 2))):
            at = draw(st.integers(0, len(copy)))
            copy[at : at + draw(st.integers(0, 1))] = draw(st.lists(words, max_size=1))
        made.append(" ".join(copy))
    return made


def brute_force(texts: list[str]) -> list[list[int]]:
    """Group texts of plain words by the definition."""

    def shingles(text: str) -> set[str]:
        split = text.split()
        return {" ".join(split[i : i + 3]) for i in range(max(len(split) - 2, 1))}

    leaders: dict[int, list[int]] = {}
    for index, text in enumerate(texts):
        own = shingles(text)
        near = [i for i in leaders if len(own & shingles(texts[i])) / len(own | shingles(texts[i])) >= 0.8]
        leaders.setdefault(near[0] if near else index, []).append(index)
    return sorted((g for g in leaders.values() if len(g) > 1), key=lambda g: (-len(g), g[0]))


@given(st.one_of(variants(), st.lists(answers, max_size=12)))
def test_brute_force(texts: list[str]) -> None:
    assert groups(texts) == brute_force(texts)


def test_brute_force_with_a_template() -> None:
    draw = random.Random(3)
    vocabulary = ["".join(draw.choices("bcdefgh", k=5)) for _ in range(60)]
    template = draw.choices(vocabulary, k=20)
    texts = []
    for _ in range(120):
        texts.append(" ".join([*template, *draw.choices(vocabulary, k=12)]))
        copy = draw.choice(texts).split()
        copy[draw.randrange(len(copy))] = draw.choice(vocabulary)
        texts.append(" ".join(copy))
    found = groups(texts)
    assert found == brute_force(texts) and len(found) > 20


@given(st.lists(st.text(alphabet="ab12<>≤=+-*'’.!()_^²½√ \nnot不\u200b\u0301", max_size=12), max_size=12))
def test_groups_are_disjoint(texts: list[str]) -> None:
    found = groups(texts)
    places = [index for group in found for index in group]
    assert len(places) == len(set(places))
    for group in found:
        assert len(group) > 1 and group == sorted(group)
        assert len({decisive_tokens(tokens(texts[index])) for index in group}) == 1
    same: dict[str, list[int]] = {}
    for index, text in enumerate(texts):
        same.setdefault(text, []).append(index)
    for copies in same.values():
        assert len(copies) == 1 or any(set(copies) <= set(group) for group in found)
