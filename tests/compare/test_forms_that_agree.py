"""Return types x expected types that all earn full marks, and the near misses next to them that all lose."""

from collections import Counter, OrderedDict, UserList, deque, namedtuple
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from tests.support.table_rows import Rows
from viva.grading import Disagreement, agree
from viva.sandbox.guest.transport.wire import Ref

INF = float("inf")
NAN = float("nan")
SPAN = namedtuple("SPAN", "start end")
CAUSAL = np.triu(np.ones((4, 4)), 1)
WEIGHTS = np.array([[0.5, 0.25, 0.25], [0.125, 0.75, 0.125]])


@dataclass
class Scores:
    bleu: float
    brevity_penalty: float


class Kind(Enum):
    ENCODER = "encoder"


# Forms that are both answered and expected to agree with; forms that are expected; forms that are answered only.
RIGHT: dict[str, tuple[list[Any], list[Any], list[Any]]] = {
    "a whole number": (
        [7, 7.0, Fraction(7), Decimal(7), Decimal("7.0"), np.int8(7), np.uint64(7), np.float16(7), np.float64(7)],
        [7, 7.0, Fraction(7), np.int64(7), np.float32(7), np.array(7), torch.tensor(7), 7 + 0j],
        [np.array(7), np.array([7.0]), np.array([[7]]), torch.tensor(7), torch.tensor([7.0]), 7 + 0j],
    ),
    "a fraction": (
        [Fraction(11, 12), 11 / 12, Decimal(11) / Decimal(12), np.float32(11 / 12), np.array(11 / 12), 0.91666667],
        [Fraction(11, 12), 11 / 12, Decimal(11) / Decimal(12), np.float64(11 / 12), torch.tensor(11 / 12)],
        [torch.tensor(11 / 12, dtype=torch.bfloat16).double() * 0 + 11 / 12, torch.tensor([11 / 12])],
    ),
    "a truth": (
        [True, 1, 1.0, np.True_, np.array(True), np.array([True]), np.int64(1), Fraction(1)],
        [True, np.True_, 1],
        [torch.tensor(True), torch.tensor(1.0)],
    ),
    "nothing": ([None], [None], []),
    "no number": ([NAN, np.nan, np.float32(NAN)], [NAN, np.float64(NAN)], [torch.tensor(NAN), Decimal("nan")]),
    "minus infinity": ([-INF, np.float32(-INF)], [-INF, np.array(-INF)], [Decimal("-inf"), torch.tensor(-INF)]),
    "a large number": ([2**80, Fraction(2**80), float(2**80)], [2**80, Fraction(2**80)], [Decimal(2**80)]),
    "a text": (["BLEU", np.str_("BLEU")], ["BLEU", np.str_("BLEU")], []),
    "texts": (
        [["a", "b"], ("a", "b"), np.array(["a", "b"])],
        [["a", "b"], ("a", "b"), np.array(["a", "b"]), deque(["a", "b"])],
        [iter(["a", "b"]), {"a": 1, "b": 2}.keys(), UserList(["a", "b"])],
    ),
    "whole numbers": (
        [[0, 1, 2], (0, 1, 2), np.arange(3), [0.0, 1.0, 2.0], [False, True, 2], np.arange(3, dtype=np.uint8)],
        [[0, 1, 2], (0, 1, 2), range(3), np.arange(3), torch.arange(3), [0, Fraction(1), Decimal(2)]],
        [torch.arange(3), torch.arange(3.0), [torch.tensor(0), torch.tensor([1]), np.float32(2)], [0, Fraction(1), 2]],
    ),
    "a pair": (
        [(2, 5), [2, 5], np.array([2, 5]), np.array([2.0, 5.0], dtype=np.float32)],
        [(2, 5), [2, 5], SPAN(2, 5), np.array([2, 5])],
        [SPAN(2, 5), torch.tensor([2, 5]), iter((2, 5))],
    ),
    "a matrix": (
        [WEIGHTS, WEIGHTS.tolist(), [tuple(r) for r in WEIGHTS.tolist()], WEIGHTS.astype(np.float32), list(WEIGHTS)],
        [WEIGHTS, WEIGHTS.tolist(), tuple(WEIGHTS), torch.tensor(WEIGHTS), np.asfortranarray(WEIGHTS)],
        [torch.nn.Parameter(torch.tensor(WEIGHTS)), [[Fraction(x) for x in r] for r in WEIGHTS.tolist()]],
    ),
    "rows of different lengths": (
        [[[4, 7, 9], [2], []], ([4, 7, 9], (2,), ()), [np.array([4, 7, 9]), np.array([2]), np.array([])]],
        [[[4, 7, 9], [2], []], ((4, 7, 9), (2,), ()), [np.array([4, 7, 9]), [2], []]],
        [[torch.tensor([4, 7, 9]), torch.tensor([2.0]), torch.zeros(0)]],
    ),
    "nothing in a list": ([[], (), np.zeros(0), np.zeros((0, 4))], [[], ()], [torch.zeros(0)]),
    "no rows": ([[], np.zeros(0), np.zeros((0, 5))], [np.zeros((0, 5)), torch.zeros(0, 5)], [torch.zeros(0, 5)]),
    "empty rows": ([[[], []], np.zeros((2, 0)), ((), ())], [np.zeros((2, 0)), [[], []]], [torch.zeros(2, 0)]),
    "a mask": (
        [
            CAUSAL,
            CAUSAL.astype(bool),
            CAUSAL.astype(np.int8),
            CAUSAL.astype(bool).tolist(),
            CAUSAL.astype(int).tolist(),
        ],
        [CAUSAL, CAUSAL.astype(bool), CAUSAL.astype(np.int64), torch.tensor(CAUSAL)],
        [torch.tensor(CAUSAL).bool(), torch.tensor(CAUSAL).half(), list(CAUSAL.astype(bool))],
    ),
    "an additive mask": (
        [np.where(CAUSAL == 1, -INF, 0.0), np.where(CAUSAL == 1, -INF, 0.0).tolist()],
        [np.where(CAUSAL == 1, -INF, 0.0)],
        [torch.zeros(4, 4).masked_fill(torch.tensor(CAUSAL).bool(), -INF)],
    ),
    "a dict": (
        [{"a": 1, "b": 0.5}, {"b": 0.5, "a": True}, {"a": np.int64(1), "b": np.array(0.5)}],
        [{"a": 1, "b": 0.5}, OrderedDict(b=0.5, a=1), {"a": Fraction(1), "b": Decimal("0.5")}],
        [OrderedDict(a=1, b=0.5), SimpleNamespace(a=1, b=0.5), {"a": torch.tensor(1), "b": torch.tensor([0.5])}],
    ),
    "counts": (
        [{("a", "b"): 2, ("b", "c"): 1, ("c", "d"): 0}, {("b", "c"): 1.0, ("a", "b"): 2}],
        [Counter({("a", "b"): 2, ("b", "c"): 1}), Counter({("a", "b"): 2, ("b", "c"): 1, ("x", "y"): 0})],
        [Counter({("a", "b"): 2, ("b", "c"): 1})],
    ),
    "a set": (
        [{1, 2, 3}, frozenset({1, 2, 3}), [3, 1, 2], (1, 2, 3), np.array([2, 3, 1]), {1.0, 2.0, 3.0}],
        [{1, 2, 3}, frozenset({3, 2, 1})],
        [{1: "a", 2: "b", 3: "c"}.keys(), torch.tensor([3, 2, 1])],
    ),
    "a set of inexact numbers": ([{0.1 + 0.2, 1.0}, [1, 0.3]], [{0.3, 1.0}], [np.array([1.0, 0.3], dtype=np.float32)]),
    "a record": (
        [{"bleu": 0.5, "brevity_penalty": 1}, Scores(0.5, 1.0)],
        [{"bleu": 0.5, "brevity_penalty": 1}, Scores(0.5, 1.0)],
        [],
    ),
    "a member": (["encoder", Kind.ENCODER], ["encoder", Kind.ENCODER], []),
    "nested": (
        [{"spans": [(0, 1), (2, 3)], "scores": np.array([0.5, 0.25]), "best": None}],
        [{"spans": [(0, 1), (2, 3)], "scores": [0.5, 0.25], "best": None}],
        [{"spans": np.array([[0, 1], [2, 3]]), "scores": torch.tensor([0.5, 0.25]), "best": None}],
    ),
    "complex": ([1 + 2j, np.complex64(1 + 2j)], [1 + 2j, np.array(1 + 2j)], [torch.tensor(1 + 2j)]),
}


def test_right_answer() -> None:
    with Rows() as row:
        for name, (forms, expecteds, more) in RIGHT.items():
            for n, expected in enumerate(expecteds):
                for form, answer in enumerate([*forms, *more]):
                    with row(name, n, type(expected).__name__, form):
                        if hasattr(answer, "__next__"):
                            answer = list(expecteds[0])  # an iterator is used up by the first comparison
                        agree(answer, expected)


def test_iterator_agrees_with_a_list() -> None:
    agree(iter([1, 2]), [1, 2])
    agree((x * x for x in range(3)), [0, 1, 4])
    agree(map(str, [1]), ["1"])
    agree([1, 2], iter([1, 2]))


NEAR_MISSES: list[tuple[Any, list[Any]]] = [
    (7, [8, 6, -7, 7.5, 7.3, "7", "7.0", None, [7], (7,), {7}, {"a": 7}, NAN, INF, True, 7 + 1j, b"7"]),
    (7, [np.array([7, 7])]),
    (1, [0, False, 2, "1", "True", None, 1.01]),
    (True, [False, 0, 0.5, 0.99999, 2, "True", "yes", None, [True], np.array([True, True])]),
    (0, [1e-3, True, None, "", [], -1, NAN]),
    (Fraction(11, 12), [Fraction(11, 13), 0.917, 0.9166, Decimal("0.92"), (11, 12), "11/12", 11, 12]),
    (0.826517, [0.826605, 0.8265, 0.8266, 82.6517, 0.842363, -0.826517, "0.826517", NAN, 1 - 0.826517, [0.826517]]),
    (1e-9, [0.0, 2e-9, -1e-9, 1.1e-9]),
    (21_018_401, [21_018_402, 21_018_400.0, np.float32(21_018_500), 1_003_200, "21,018,401"]),
    (2**80, [2**80 + 1, 2**80 - 1, 10**400, -(2**80)]),
    (None, [0, "", [], False, NAN, (1, 2), "None", {}]),
    (NAN, [0.0, 1, None, "nan", INF]),
    (-INF, [INF, -1e9, -1e300, NAN, 0, None]),
    ("BLEU", ["bleu", "BLEU ", " BLEU", "", None, 1, ["B", "L", "E", "U"], ["BLEU"], b"BLEU"]),
    (["a", "b"], [["b", "a"], ["a"], ["a", "b", "c"], "ab", {"a", "b"}, ["a", None], [["a", "b"]], ["a", "B"], [1, 2]]),
    ([0, 1, 2], [[0, 1], [0, 1, 2, 3], [0, 2, 1], [1, 2, 3], [[0, 1, 2]], [[0], [1], [2]], {0, 1, 2}, 3, None, "012"]),
    ([0, 1, 2], [np.arange(3).reshape(3, 1), np.arange(3).reshape(1, 3), np.array(0), np.array([0, 1, NAN])]),
    ([0, 1, 2], [["0", "1", "2"]]),
    ((2, 5), [(5, 2), (2, 4), (2, 6), 2, (2,), (2, 5, 0), [(2, 5)], None, {2: 5}, {2, 5}, "(2, 5)"]),
    (WEIGHTS, [WEIGHTS.T, WEIGHTS.ravel(), WEIGHTS[None], WEIGHTS[0], WEIGHTS[:, :1], WEIGHTS[:1], WEIGHTS.sum(), 0.5]),
    (WEIGHTS, [WEIGHTS * 2, WEIGHTS + 1e-3, -WEIGHTS, WEIGHTS[::-1], np.log(WEIGHTS), WEIGHTS.round(1), WEIGHTS + 1j]),
    (WEIGHTS, [WEIGHTS * NAN, WEIGHTS * INF, WEIGHTS.astype(bool), WEIGHTS.tolist()[0], None]),
    (np.ones((3, 1)), [np.ones(3), np.ones((1, 3)), np.ones((3, 3)), np.ones(1), 1.0, np.ones((3, 1, 1))]),
    (np.ones(1), [1.0, np.ones((1, 1)), np.ones(0)]),
    ([[4, 7, 9], [2], []], [[[4, 7, 9], [2]], [[4, 7, 9], [2], [0]], [[4, 7, 9], [2, 0], []], [[4, 7, 9], 2, []]]),
    ([], [None, [0], [[]], "", {}, 0, set(), np.zeros(1)]),
    (np.zeros((2, 0)), [np.zeros((0, 2)), np.zeros((3, 0)), [], np.zeros(0)]),
    (CAUSAL, [1 - CAUSAL, CAUSAL.T, np.triu(np.ones((4, 4))), CAUSAL[:3, :3], np.zeros((4, 4)), CAUSAL * 2]),
    (CAUSAL, [np.where(CAUSAL == 1, -INF, 0.0)]),
    ({"a": 1, "b": 0.5}, [{"a": 1}, {"a": 1, "b": 0.5, "c": 0}, {"a": 1, "b": 0.6}, [("a", 1), ("b", 0.5)], [1, 0.5]]),
    ({"a": 1}, [{"A": 1}, {"a": "1"}, {"a": None}, {"a": [1]}, {}, {"a"}, "{'a': 1}"]),
    ({1: "x"}, [{"1": "x"}, {2: "x"}, {1: "y"}]),
    (Counter(a=2), [{"a": 1}, {"a": 2, "b": 1}, {}, {"b": 2}, {"a": 3}, ["a", "a"]]),
    ({"a": 0}, [{}]),
    ({1, 2, 3}, [{1, 2}, {1, 2, 3, 4}, [1, 2, 3, 3], {1, 2, "3"}, None, 6, {1: 0, 2: 0, 3: 0}, {(1, 2, 3)}, "123"]),
    (set(), [{0}, None, {}, [0], [[]]]),
    ([{"a": [1, (2, 3)]}], [[{"a": [1, (2, 4)]}], [{"a": [1, (2,)]}], [{"a": [1, 2, 3]}], [{"b": [1, (2, 3)]}]]),
    (1 + 2j, [1 - 2j, 1, 2j, None]),
    (0.5, [Ref(1, "Fake", "0.5"), [Ref(1, "Fake", "0.5")], object(), lambda: 0.5, type]),
    ([0.5, 0.5], [[0.5, Ref(1, "Fake", "0.5")], Ref(1, "Fake", "[0.5, 0.5]"), [0.5, object()]]),
    ({"a": None}, [{"a": Ref(1, "NoneType", "None")}, {Ref(1, "str", "a"): None}]),
    ("a", [Ref(1, "str", "a"), object()]),
    (None, [Ref(1, "NoneType", "None")]),
]


def test_near_miss() -> None:
    with Rows() as row:
        for i, (expected, answers) in enumerate(NEAR_MISSES):
            for j, answer in enumerate(answers):
                with row(i, j):
                    with pytest.raises(Disagreement) as raised:
                        agree(answer, expected)
                    assert raised.value.share is None
                    assert str(raised.value).endswith((".", "?", ")"))
                    assert len(str(raised.value)) < 500
                    assert "\n" not in str(raised.value)


def test_rounded_answer() -> None:
    """BLEU = 0.8266 was computed from rounded precisions; (7/15)^(1/4) is 0.826517."""
    exact = (7 / 15) ** 0.25
    agree(exact, 0.8265168696)
    with pytest.raises(Disagreement, match=r"0\.8265; expected 0\.826517 \(off by"):
        agree(0.8265, exact)
    with pytest.raises(Disagreement, match=r"0\.826605; expected 0\.826517"):
        agree((0.917 * 0.818 * 0.8 * 0.778) ** 0.25, exact)
