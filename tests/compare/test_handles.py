"""Names and handles of the student's: their value is fetched; what has no plain form agrees with nothing."""

from collections.abc import Callable
from typing import Any

import pytest

from viva.grading import Disagreement, agree
from viva.model.errors import BoxDied
from viva.proxies.proxies import Handle, Remote
from viva.sandbox.guest.transport.message_types import Request
from viva.sandbox.guest.transport.wire import Ref


class BoxConnection:
    """A box that holds one value."""

    generation = 1

    def __init__(self, value: Any) -> None:
        self.value = value
        self.requests: list[str] = []

    def ask(self, request: Request, **options: object) -> Any:
        self.requests.append(request.op)
        if isinstance(self.value, Exception):
            raise self.value
        return self.value

    def release(self, generation: int, ref_id: int) -> None:
        pass


@pytest.mark.parametrize(
    "make", [lambda d: Remote(d, "student", "answer"), lambda d: Handle(d, Ref(1, "int", "7"), "answer")]
)
def test_value_is_fetched_once(make: Callable[[Any], Any]) -> None:
    connection = BoxConnection(7)
    agree(make(connection), 7)
    assert connection.requests == ["get"]
    with pytest.raises(Disagreement, match=r"Your answer is 7; expected 8"):
        agree(make(connection), 8)
    assert connection.requests == ["get", "get"]


def test_object_without_plain_form() -> None:
    connection: Any = BoxConnection(Ref(1, "Fraction", "1/2"))
    for expected in (0.5, "1/2", [1], {"a": 1}, {1}, None, True):
        with pytest.raises(Disagreement, match="an object of class `Fraction`"):
            agree(Handle(connection, Ref(1, "Fraction", "1/2"), "answer"), expected)
    assert set(connection.requests) == {"get"}


def test_handle_among_items() -> None:
    connection: Any = BoxConnection(0.5)
    for answer in ([Handle(connection, Ref(1, "Node", ""), "x")], {"a": Handle(connection, Ref(1, "Node", ""), "x")}):
        for expected in ([0.5], {"a": 0.5}, {0.5}, 0.5, [None], [[0.5]]):
            for up_to in ((), ("order", "polarity", "sign", "spaces")):
                with pytest.raises(Disagreement):
                    agree(answer, expected, up_to=up_to)
    assert connection.requests == []


def test_dead_sandbox() -> None:
    connection: Any = BoxConnection(BoxDied("exit status 1"))
    with pytest.raises(BoxDied):
        agree(Remote(connection, "student", "answer"), 7)


def test_control_characters_in_a_class_name() -> None:
    with pytest.raises(Disagreement) as raised:
        agree(Ref(1, "\x1b[31mA\u202e", ""), 7)
    assert str(raised.value).isprintable()
