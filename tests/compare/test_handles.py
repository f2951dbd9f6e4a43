"""Names and handles of the student's: their value is fetched; what has no plain form agrees with nothing."""

import pytest

from viva.grading import Disagreement, agree
from viva.model.errors import BoxDied
from viva.proxies.proxies import Handle, Remote
from viva.sandbox.guest.transport.wire import Ref


class BoxConnection:
    """A box that holds one value."""

    generation = 1

    def __init__(self, value):
        self.value = value
        self.asked = []

    def ask(self, op, **fields):
        self.asked.append(op)
        if isinstance(self.value, Exception):
            raise self.value
        return self.value

    def release(self, generation, ref_id):
        pass


@pytest.mark.parametrize(
    "make", [lambda d: Remote(d, "student", "answer"), lambda d: Handle(d, Ref(1, "int", "7"), "answer")]
)
def test_the_value_of_a_name_or_handle_is_fetched_once(make):
    connection = BoxConnection(7)
    agree(make(connection), 7)
    assert connection.asked == ["get"]
    with pytest.raises(Disagreement, match=r"Your answer is 7; expected 8"):
        agree(make(connection), 8)
    assert connection.asked == ["get", "get"]


def test_an_object_stays_an_object_and_is_asked_for_nothing_else():
    connection = BoxConnection(Ref(1, "Fraction", "1/2"))
    for expected in (0.5, "1/2", [1], {"a": 1}, {1}, None, True):
        with pytest.raises(Disagreement, match="an object of class `Fraction`"):
            agree(Handle(connection, Ref(1, "Fraction", "1/2"), "answer"), expected)
    assert set(connection.asked) == {"get"}


def test_a_handle_among_the_items_is_asked_for_nothing():
    connection = BoxConnection(0.5)
    for answer in ([Handle(connection, Ref(1, "Node", ""), "x")], {"a": Handle(connection, Ref(1, "Node", ""), "x")}):
        for expected in ([0.5], {"a": 0.5}, {0.5}, 0.5, [None], [[0.5]]):
            for up_to in ((), ("order", "polarity", "sign", "spaces")):
                with pytest.raises(Disagreement):
                    agree(answer, expected, up_to=up_to)
    assert connection.asked == []


def test_the_end_of_the_box_is_no_disagreement():
    with pytest.raises(BoxDied):
        agree(Remote(BoxConnection(BoxDied("exit status 1")), "student", "answer"), 7)


def test_a_class_name_cannot_carry_control_characters():
    with pytest.raises(Disagreement) as raised:
        agree(Ref(1, "\x1b[31mA\u202e", ""), 7)
    assert str(raised.value).isprintable()
