"""Objects in the box can be used, but never compared, counted or computed with by accident."""

import operator
from typing import Any

import numpy as np
import pytest

from tests.support.table_rows import Rows
from viva.model.errors import BoxDied
from viva.proxies.proxies import STOP, Handle, Remote, from_box, to_box
from viva.sandbox.guest.transport.wire import Ref


class FakeDoor:
    """Answers from a table, remembers what was asked."""

    def __init__(self, **answers: Any) -> None:
        self.generation = 1
        self.answers = answers
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.released: list[int] = []

    def ask(self, op: str, *, subject: str = "", **fields: Any) -> Any:
        self.asked.append((op, fields))
        return self.answers[op]

    def release(self, generation: int, ref_id: int) -> None:
        self.released.append(ref_id)


REF = Ref(7, "Model", "<Model>")


USES = [
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
MADE = {"handle": lambda d: Handle(d, REF, "model"), "remote": lambda d: Remote(d, "student", "model")}


def test_nothing_is_concluded_from_an_object_in_the_box() -> None:
    with Rows() as row:
        for what, make in MADE.items():
            for n, use in enumerate(USES):
                with row(what, n):
                    connection = FakeDoor()
                    with pytest.raises(TypeError, match=r"agree\(\.\.\.\).*\.value\(\)"):
                        use(make(connection))
                    assert connection.asked == []


def test_a_call_sends_plain_scalars_and_references() -> None:
    connection = FakeDoor(call=[1, 2])
    model = Handle(connection, REF, "model")
    assert Remote(connection, "student", "train")(model, np.int64(3), lr=np.float32(0.5), sizes=(np.int32(1),)) == [
        1,
        2,
    ]
    (op, fields) = connection.asked[-1]
    assert op == "call"
    assert fields["args"] == [REF, 3] and type(fields["args"][1]) is int
    assert fields["kwargs"] == {"lr": 0.5, "sizes": (1,)} and type(fields["kwargs"]["lr"]) is float


def test_what_has_no_plain_form_comes_back_as_a_handle_even_deep_inside() -> None:
    connection = FakeDoor()
    value = from_box(connection, {"a": [1, (Ref(3, "Foo", ""), 2)]}, "f")
    assert isinstance(value["a"][1][0], Handle) and value["a"][1][0].type_name == "Foo"


def test_a_dropped_handle_is_released_once() -> None:
    connection = FakeDoor()
    handle = Handle(connection, REF, "model")
    del handle
    assert connection.released == [7]


@pytest.mark.parametrize(
    "name", ["__array__", "__wrapped__", "_repr_html_", "_ipython_display_", "_pytestfixturefunction"]
)
def test_probes_never_cross_the_door(name: str) -> None:
    connection = FakeDoor()
    assert not hasattr(Handle(connection, REF, "model"), name)
    assert not hasattr(Remote(connection, "student", "model"), name)
    assert connection.asked == []


def test_iteration_by_next_ends_where_the_box_says() -> None:
    connection = FakeDoor(next=STOP)
    with pytest.raises(StopIteration):
        next(Handle(connection, REF, "batches"))


def test_an_object_of_a_lost_box_cannot_be_sent() -> None:
    connection = FakeDoor()
    handle = Handle(connection, REF, "model")
    connection.generation = 2
    with pytest.raises(BoxDied, match="had ended"):
        to_box([handle])


def test_everything_a_call_did() -> None:
    connection = FakeDoor(
        call={
            "value": None,
            "args_after": [[[3, 1]], {}],
            "printed": "hello\n",
            "raised": {"type": "ValueError", "message": "no", "frames": []},
        }
    )
    made = Remote(connection, "student", "f").call([1, 3])
    assert (made.args_after, made.printed, str(made.raised)) == (([3, 1],), "hello\n", "ValueError: no")


def test_a_handle_that_was_refused_asks_nobody_for_its_own_parts() -> None:
    """It asked itself for them without end, when it was deleted: the examiner's stack overflowed."""
    half_made = Handle.__new__(Handle)
    for name in ("_generation", "_ref", "_connection", "_label"):
        with pytest.raises(AttributeError, match="was not made"):
            getattr(half_made, name)
