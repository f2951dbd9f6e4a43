"""Each type that an answer can have is sent, read, compared, shown and recorded, as its two rows say."""

import itertools
import math
import numbers
import re
from array import array
from collections import Counter, UserString, deque
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import msgpack
import numpy as np
import pytest

from tests.support.crossing import send_across
from tests.support.same_values import same
from tests.support.table_rows import Rows
from viva.compare.agree import agree
from viva.compare.disagreement import Disagreement
from viva.compare.normalize import PLAIN_SCALARS, is_number, plain
from viva.compare.show import describe, show
from viva.compare.value_kinds import AS_NUMBER, VALUE_KINDS
from viva.examiner.recorded_key.recorded_values import Unrecordable, digest, packed, unpacked
from viva.sandbox.guest.transport import wire
from viva.sandbox.guest.transport.decoding import Decoder
from viva.sandbox.guest.transport.value_types import (
    KEEP,
    STAND_INS,
    TYPE_OF,
    VALUE_TYPES,
    ValueType,
    type_of,
)
from viva.sandbox.guest.values.plain_data import PlainData

SAMPLES: dict[type, list[Any]] = {
    type(None): [None],
    bool: [True, False],
    int: [3, -1, 2**63, 2**64, -(2**70)],
    float: [0.5, -2.25, math.inf],
    complex: [1 + 2j, -3j],
    str: ["", "a text", "漢字"],
    bytes: [b"", b"\xff\0"],
    Fraction: [Fraction(1, 3), Fraction(2**70, 3)],
    Decimal: [Decimal("1.10"), Decimal("-3")],
    datetime: [datetime(2024, 2, 29), datetime(2024, 2, 29, 1, 2, 3, 4), datetime(2024, 2, 29, tzinfo=UTC)],
    date: [date(2024, 3, 1), date(1, 1, 1)],
    timedelta: [timedelta(days=-1, microseconds=1), timedelta(0)],
}
"""Of every type different values."""
STANDING_IN: dict[type, tuple[Any, Any]] = {
    bytearray: (bytearray(b"ab"), b"ab"),
    memoryview: (memoryview(b"ab"), b"ab"),
    Counter: (Counter("aab"), {"a": 2, "b": 1}),
    range: (range(1, 7, 2), [1, 3, 5]),
    deque: (deque([1, 2]), [1, 2]),
    array: (array("i", [1, 2]), [1, 2]),
    SimpleNamespace: (SimpleNamespace(a=1), {"a": 1}),
    UserString: (UserString("ab"), "ab"),
    re.Pattern: (re.compile("a+"), "a+"),
}
"""Of every type that stands for another a value, and how it arrives."""
JUNK = [None, True, 1, -1, 0.5, "", "x", b"", b"x", [], [1], [1, 2], [1, 0], [0.5, 1], ["a", "b"], [[1], 2], [1, 2, 3]]


class Lies:
    """Mixed into a subclass: nothing of it may be asked."""

    def _lie(self, *_: Any) -> Any:
        raise AssertionError("a method of the subclass was asked")

    __pos__ = __str__ = __repr__ = __int__ = __float__ = __complex__ = __bytes__ = __iter__ = __len__ = _lie
    __eq__ = __add__ = __sub__ = __rsub__ = __abs__ = __getitem__ = __index__ = __round__ = _lie
    __reduce_ex__ = __getnewargs__ = encode = to_bytes = bit_length = as_tuple = _lie
    __class__ = numerator = denominator = property(_lie)  # also asked without a call
    __hash__ = None  # type: ignore[assignment]  # as Python makes it unhashable


def samples() -> Iterator[tuple[ValueType, Any]]:
    """Every value with its row."""
    return ((TYPE_OF[kind], value) for kind, values in SAMPLES.items() for value in values)


def test_every_type_has_samples_and_tag() -> None:
    assert list(SAMPLES) == [row.kind for row in VALUE_TYPES] == list(VALUE_KINDS)
    assert all(type(value) is kind for kind, values in SAMPLES.items() for value in values)
    tags = [row.tag for row in VALUE_TYPES if row.tag]
    assert len(set(tags) | {*"tszdalgrTF"}) == len(tags) + 10
    assert all((row.tag != "") == (row.parts is not None) == (row.made is not None) for row in VALUE_TYPES)


def test_values_cross() -> None:
    with Rows() as row:
        for _, value in samples():
            for sent in (value, [value] * 3, {"key": value}, {value: 1}):
                with row(repr(sent)):
                    assert same(send_across(sent), sent)


def test_subclass_is_read_by_base_methods() -> None:
    reader = PlainData(lambda value: pytest.fail(f"{value!r} was kept"))
    with Rows() as row:
        for of, value in samples():
            if of.kind in (type(None), bool):
                continue  # nothing can be derived from these
            with row(repr(value)):
                lying = type("Lying", (Lies, of.kind), {})
                assert same(reader(_made_as(lying, value)), value)


def test_broken_fraction_stays_in_box() -> None:
    broken = Fraction(1, 2)
    broken._denominator = 0  # type: ignore[attr-defined]  # no other way to break one
    assert TYPE_OF[Fraction].exact(broken) is KEEP


def test_agree_within_type() -> None:
    with Rows() as row:
        for values in SAMPLES.values():
            for one, other in itertools.product(values, values):
                with row(repr(one), repr(other)):
                    if one is other:
                        agree(one, other)
                        agree([[one]], [[other]])
                        agree({"a": one}, {"a": other})
                    else:
                        with pytest.raises(Disagreement):
                            agree(one, other)


def test_disagree_across_types() -> None:
    with Rows() as row:
        for (of, value), (other_of, other) in itertools.product(samples(), samples()):
            kinds = {one.kind if VALUE_KINDS[one.kind].compared != AS_NUMBER else AS_NUMBER for one in (of, other_of)}
            if len(kinds) > 1:
                with row(repr(value), repr(other)), pytest.raises(Disagreement):
                    agree(value, other)


def test_plain_form() -> None:
    with Rows() as row:
        for of, value in samples():
            with row(repr(value)):
                assert type(plain(value)) in PLAIN_SCALARS
                assert is_number(plain(value)) == (VALUE_KINDS[of.kind].compared == AS_NUMBER)
                assert VALUE_KINDS[of.kind].normal is not None or same(plain(value), value)


def test_values_are_shown_in_one_line() -> None:
    with Rows() as row:
        for of, value in samples():
            with row(repr(value)):
                text = show(value)
                assert text.isprintable() and text
                assert describe(value).isprintable() and describe(value)
                assert (text == f"<{of.kind.__name__}>") == (VALUE_KINDS[of.kind].show is None)


@pytest.mark.parametrize(
    ("value", "text", "kind"),
    [
        (2**300, "a whole number of about 91 digits", "the number a whole number of about 91 digits"),
        (0.123456789, "0.123457", "the number 0.123457"),
        (Fraction(1, 3), "1/3", "the number 1/3"),
        (b"a", "b'a'", "1 byte"),
        (b"", "b''", "0 bytes"),
        (Decimal(1), "<Decimal>", "an object of class `Decimal`"),
        (np.bool_(True), "True", "True"),
        (np.int8(3), "3", "the number 3"),
        (np.float32(0.1), "0.1", "the number 0.1"),
        (np.longdouble(0.5), "0.5", "the number 0.5"),
        (np.complex64(1j), "0+1j", "the number 0+1j"),
        (np.str_("a"), "'a'", "the text 'a'"),
    ],
)
def test_show_and_describe(value: Any, text: str, kind: str) -> None:
    assert (show(value), describe(value)) == (text, kind)


def test_values_are_recorded() -> None:
    with Rows() as row:
        for of, value in samples():
            with row(repr(value)):
                if not VALUE_KINDS[of.kind].is_recorded:
                    with pytest.raises(Unrecordable):
                        packed(value)
                    continue
                assert same(unpacked(packed([value])), [value])
                others = [
                    v for vs in SAMPLES.values() for v in vs if v is not value and VALUE_KINDS[type(v)].is_recorded
                ]
                assert digest("f", (value,), {}) not in {digest("f", (v,), {}) for v in others}


def test_other_content_under_a_tag() -> None:
    with Rows() as row:
        for of in VALUE_TYPES:
            for content in JUNK if of.tag else ():
                with row(of.tag, repr(content)):
                    try:
                        made = Decoder([]).value(msgpack.packb({of.tag: content}))
                    except wire.WireError:
                        continue
                    assert type(made) is of.kind


def test_stand_in_type_arrives() -> None:
    reader = PlainData(lambda value: pytest.fail(f"{value!r} was kept"))
    assert list(STANDING_IN) == [row.kind for row in STAND_INS]
    with Rows() as row:
        for of in STAND_INS:
            with row(of.kind.__name__):
                value, arrives = STANDING_IN[of.kind]
                assert type(value) is of.kind
                assert same(reader(value), arrives)


def test_subclass_of_stand_in_type() -> None:
    reader = PlainData(lambda value: pytest.fail(f"{value!r} was kept"))
    with Rows() as row:
        for kind in (Counter, deque):
            with row(kind.__name__):
                value, arrives = STANDING_IN[kind]
                lying = type("Lying", (kind,), {})
                made = lying(value)
                for name in ("items", "keys", "__iter__", "__len__"):
                    setattr(lying, name, Lies._lie)
                assert same(reader(made), arrives)


def test_stand_in_type_is_recorded() -> None:
    with Rows() as row:
        for of in STAND_INS:
            value, _ = STANDING_IN[of.kind]
            with row(of.kind.__name__):
                if of.kind not in (Counter, range, deque):
                    with pytest.raises(Unrecordable):
                        packed(value)
                    continue
                again = unpacked(packed([value]))
                assert type(again[0]) is of.kind
                assert again == [value]
                assert digest("f", (value,), {}) == digest("f", tuple(again), {})
                assert digest("f", (value,), {}) != digest("f", (STANDING_IN[of.kind][1],), {})


def test_counter_counts_missing_as_zero() -> None:
    agree({"a": 1}, Counter(a=1, b=0))
    with pytest.raises(Disagreement):
        agree({"a": 1}, {"a": 1, "b": 0})


def test_row_of_subclass() -> None:
    class Mine(float):
        pass

    assert type_of(Mine(1)) is TYPE_OF[float]
    assert type_of(np.float64(1)) is TYPE_OF[float]
    assert type_of([1]) is None


def _made_as(kind: Any, value: Any) -> Any:
    """The value as one of a subclass, without asking the subclass."""
    if type(value) is Fraction:
        made = object.__new__(kind)
        made._numerator, made._denominator = value.numerator, value.denominator
        return made
    arguments = (value,) if isinstance(value, numbers.Number | str | bytes) else value.__reduce__()[1]
    return type(value).__new__(kind, *arguments)
