"""The answers by hand in the key of translation_and_masks, computed from what its handout prints."""

import itertools
import re
from fractions import Fraction
from types import ModuleType

import numpy as np
import pytest

from reference.attention.groups import score_entries
from reference.generation.beam_search import beam_search, greedy_search
from reference.generation.bleu import bleu, brevity_penalty, modified_precision
from tests.reference.answers.conftest import ROOT

NAME = "translation_and_masks"
HANDOUT = (ROOT / "assignments" / "translation_and_masks" / "handout.md").read_text(encoding="utf-8")


def printed_tree() -> dict[tuple[str, ...], dict[str, float]]:
    """The table of question 1.3."""
    tree = {}
    for prefix, *cells in re.findall(
        r"^\| (\(start\)|[A-F](?: [D-F])?) \| (.+) \| (.+) \| (.+) \|$", HANDOUT, re.MULTILINE
    ):
        tokens = () if prefix == "(start)" else tuple(prefix.split())
        tree[tokens] = {cell.split()[0]: float(cell.split()[1]) for cell in cells}
    return tree


def test_padding_answer_is_that_of_pad_batch(key: ModuleType) -> None:
    printed = [[int(i) for i in row.split(",")] for row in re.findall(r"`\[([\d, ]+)\]`", HANDOUT)[:3]]
    assert key.pad_batch(printed).tolist() == key.answers["1.1"]


def test_search_in_the_printed_tree(key: ModuleType) -> None:
    tree = printed_tree()
    assert len(tree) == 13 and all(sum(row.values()) == pytest.approx(1) for row in tree.values())
    beam = beam_search(tree.__getitem__, 2, 3)
    assert ["".join(tokens) for tokens, _ in beam] == key.answers["1.3.beam"]
    assert np.exp(beam[0][1]) == pytest.approx(key.answers["1.3.probability"])
    assert "".join(greedy_search(tree.__getitem__, 3)[0]) == key.answers["1.3.greedy"]


def test_searches_of_the_printed_tree_differ() -> None:
    """What makes the tree worth asking about; and no two paths of one length are equally probable."""
    tree = printed_tree()
    exact = ["".join(tokens) for tokens, _ in beam_search(tree.__getitem__, 27, 3)]
    assert exact[:3] == ["BDG", "AEG", "ADG"]
    for depth in (1, 2, 3):
        scores = [score for _, score in beam_search(tree.__getitem__, 27, depth)]
        assert all(better - worse > 1e-3 for better, worse in itertools.pairwise(scores))


def test_bleu_of_the_printed_sentences(key: ModuleType) -> None:
    candidate, *references = (
        line.split() for line in re.findall(r"^    (?:candidate|reference \d)  +(.+)$", HANDOUT, re.MULTILINE)
    )
    assert len(candidate) == 12 and len(references) == 2
    for n in (1, 2, 3, 4):
        assert Fraction(*modified_precision(candidate, references, n)) == Fraction(key.answers[f"1.4.P{n}"])
    assert brevity_penalty(candidate, references) == key.answers["1.4.BP"]
    assert round(bleu(candidate, references), 6) == key.answers["1.4.BLEU"]


def test_formulas_have_the_values_of_the_references(key: ModuleType) -> None:
    for h, mu, sigma in [(1, 0.5, 2.0), (16, 0.7, 1.3), (64, -1.0, 0.2)]:
        mean, variance = key.qk_moments(mu, sigma, h)
        names = {"h": h, "mu": mu, "sigma": sigma}
        assert eval(key.answers["2.2.mean"], names) == pytest.approx(mean)
        assert eval(key.answers["2.2.variance"], names) == pytest.approx(variance)
    assert eval(key.answers["2.4"], {"n": 12, "G": 3}) == score_entries(12, 3) == 48


def test_tables_of_the_printed_segments(key: ModuleType) -> None:
    [(source, target)] = re.findall(r"source segment is `(.+?)`, the target segment `(.+?)`", HANDOUT)
    segments = source.split(), target.split()
    assert tuple(map(len, segments)) == (5, 4)
    for kind, function in [
        ("unidirectional", key.mask_for_unidirectional_lm),
        ("bidirectional", key.mask_for_bidirectional_lm),
        ("sequence_to_sequence", key.mask_for_seq2seq_lm),
    ]:
        np.testing.assert_array_equal(function(*segments), key.answers[f"3.3.{kind}"])
