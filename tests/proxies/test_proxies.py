"""Objects in the box can be used, but never compared, counted or computed with by accident."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.table_rows import Rows
from viva.model.errors import BoxDied
from viva.proxies.proxies import STOP, Handle, Remote, from_box, to_box
from viva.sandbox.guest.transport.message_types import Request
from viva.sandbox.guest.transport.wire import Ref


class FakeConnection:
    """Answers from a table, remembers what was asked."""

    def __init__(self, **answers: Any) -> None:
        self.generation = 1
        self.answers = answers
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.released: list[int] = []

    def ask(self, request: Request, *, subject: str = "", generation: int | None = None) -> Any:
        self.asked.append((request.op, request.fields()))
        return self.answers[request.op]

    def asks_twice(self, name: str) -> bool:
        return False

    def answered_differently(self, name: str) -> None: ...

    def load_more(self) -> bool:
        return False

    def release(self, generation: int, ref_id: int) -> None:
        self.released.append(ref_id)


REF = Ref(7, "Model", "<Model>")


USES: list[Callable[[Any], object]] = [
    lambda h: h == 1,
    lambda h: h != 1,
    lambda h: h < 1,
    lambda h: h <= 1,
    bool,
    len,
    iter,
    list,
    float,
    int,
    lambda h: h + 1,
    lambda h: 1 + h,
    lambda h: h @ h,
    operator.neg,
    abs,
    lambda h: 1 in h,
    lambda h: h == [1],
]
MADE: dict[str, Callable[[FakeConnection], object]] = {
    "handle": lambda connection: Handle(connection, REF, "model"),
    "remote": lambda connection: Remote(connection, "student", "model"),
}


def test_operators_are_refused() -> None:
    with Rows() as row:
        for what, make in MADE.items():
            for n, use in enumerate(USES):
                with row(what, n):
                    connection = FakeConnection()
                    with pytest.raises(TypeError, match=r"agree\(\.\.\.\).*\.value\(\)"):
                        use(make(connection))
                    assert connection.asked == []


def test_call_sends_plain_values() -> None:
    connection = FakeConnection(call=[1, 2])
    model = Handle(connection, REF, "model")
    train = Remote(connection, "student", "train")
    assert train(model, np.int64(3), lr=np.float32(0.5), sizes=(np.int32(1),)) == [1, 2]
    (op, fields) = connection.asked[-1]
    assert op == "call"
    assert fields["args"] == [REF, 3] and type(fields["args"][1]) is int
    assert fields["kwargs"] == {"lr": 0.5, "sizes": (1,)} and type(fields["kwargs"]["lr"]) is float


def test_nested_reference_becomes_handle() -> None:
    connection = FakeConnection()
    value = from_box(connection, {"a": [1, (Ref(3, "Foo", ""), 2)]}, "f")
    assert isinstance(value["a"][1][0], Handle) and value["a"][1][0].type_name == "Foo"


def test_dropped_handle_is_released() -> None:
    connection = FakeConnection()
    handle = Handle(connection, REF, "model")
    del handle
    assert connection.released == [7]


@pytest.mark.parametrize(
    "name", ["__array__", "__wrapped__", "_repr_html_", "_ipython_display_", "_pytestfixturefunction"]
)
def test_probes_never_reach_the_box(name: str) -> None:
    connection = FakeConnection()
    assert not hasattr(Handle(connection, REF, "model"), name)
    assert not hasattr(Remote(connection, "student", "model"), name)
    assert connection.asked == []


def test_next_ends() -> None:
    connection = FakeConnection(next=STOP)
    with pytest.raises(StopIteration):
        next(Handle(connection, REF, "batches"))


def test_handle_of_lost_box() -> None:
    connection = FakeConnection()
    handle = Handle(connection, REF, "model")
    connection.generation = 2
    with pytest.raises(BoxDied, match="had ended"):
        to_box([handle])


def test_call_result() -> None:
    connection = FakeConnection(
        call={
            "value": None,
            "args_after": [[[3, 1]], {}],
            "printed": "hello\n",
            "raised": {"type": "ValueError", "message": "no", "frames": []},
        }
    )
    made = Remote(connection, "student", "f").call([1, 3])
    assert (made.args_after, made.printed, str(made.raised)) == (([3, 1],), "hello\n", "ValueError: no")


def test_half_made_handle_asks_nobody() -> None:
    """It asked itself for them without end, when it was deleted: the examiner's stack overflowed."""
    half_made = Handle.__new__(Handle)
    for name in ("_generation", "_ref", "_connection", "_label"):
        with pytest.raises(AttributeError, match="was not made"):
            getattr(half_made, name)
