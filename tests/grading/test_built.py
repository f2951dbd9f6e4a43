"""Objects as arguments: what crosses to the sandbox is the code that makes them, and each call gets a new one."""

import collections
import io
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.support.table_rows import Rows
from viva.compare.counterexamples.examples import generate_arguments
from viva.compare.show import show
from viva.grading import strategies
from viva.grading.functions import NoCode
from viva.proxies.key import KeyFunction, has_plain_form
from viva.sandbox.guest.values.references import References


def in_a_box(value: Any) -> Any:
    refs = References()
    return refs.arguments(refs.mention(value))


def arguments(strategies: list[Any], count: int) -> Any:
    """Drawn by the strategies; as Any, as they may be of any type."""
    return generate_arguments(strategies, count)


MADE = {
    "collections.deque([1, 2], maxlen=3)": (strategies.built(collections.deque, st.just([1, 2]), maxlen=st.just(3))),
    "collections.Counter('abca')": strategies.built(collections.Counter, st.just("abca")),
    "range(2, 9)": strategies.built(range, st.just(2), st.just(9)),
    "io.StringIO('a\\nb')": strategies.built(io.StringIO, st.just("a\nb")),
    "collections.deque([collections.deque([], maxlen=1), (2,), {3: 'x'}])": strategies.built(
        collections.deque,
        st.tuples(
            strategies.built(collections.deque, st.just([]), maxlen=st.just(1)), st.just((2,)), st.just({3: "x"})
        ).map(list),
    ),
    "numpy.flip(np.array([1.5, 2.0]))": strategies.built(np.flip, st.just(np.array([1.5, 2.0]))),
    "numpy.flip(np.array([1, 2], dtype='uint8'))": strategies.built(np.flip, st.just(np.array([1, 2], np.uint8))),
}


def test_object_on_both_sides() -> None:
    with Rows() as row:
        for shown, strategy in MADE.items():
            with row(shown):
                [[drawn]] = arguments([strategy], 1)
                assert show(drawn).replace("_io.", "io.") == shown
                there, here = in_a_box(drawn), drawn.here()
                assert type(there) is type(here)
                if isinstance(here, io.StringIO):
                    there, here = there.getvalue(), here.getvalue()
                assert (there == here) if not isinstance(here, np.ndarray) else (there.tobytes() == here.tobytes())


def test_network_on_both_sides() -> None:
    torch = pytest.importorskip("torch")
    layer = strategies.built(torch.nn.Linear, st.just(2), st.just(3))
    for strategy in (strategies.networks(lambda: torch.nn.Linear(2, 3)), strategies.networks(layer)):
        [[drawn]] = arguments([strategy], 1)
        assert show(drawn) in ("torch.nn.Linear(2, 3) after torch.manual_seed(0)",
                               "torch.nn.Linear(2, 3) with random weights (seed 0)")  # fmt: skip
        torch.manual_seed(5)
        before = torch.random.get_rng_state()
        there, here = in_a_box(drawn), drawn.here()
        assert torch.equal(there.weight, here.weight) and torch.equal(there.bias, here.bias)
        assert torch.equal(torch.random.get_rng_state(), before)  # what draws afterwards is not the same in each call
        assert here is not drawn.here()
    with_dropout = strategies.networks(layer, dropout=True).filter(lambda each: "Dropout" in repr(each))
    [[drawn]] = arguments([with_dropout], 1)
    there, here = in_a_box(drawn), drawn.here()
    assert show(drawn).startswith("torch.nn.Sequential(torch.nn.Dropout(), torch.nn.Linear(2, 3))")
    assert torch.equal(there[1].weight, here[1].weight)
    weights = {repr(drawn.here().weight.tolist()) for [drawn] in arguments([strategy], 20)}
    assert len(weights) > 10


def test_order_of_layers() -> None:
    torch = pytest.importorskip("torch")

    class Net(torch.nn.Module):  # type: ignore[misc,name-defined]  # torch is not imported for the types
        def __init__(self, *names: str) -> None:
            super().__init__()
            for name in names:
                embedding = torch.nn.Embedding(4, 2, padding_idx=0)
                setattr(self, name, embedding if name == "words" else torch.nn.Linear(2, 2))
            self.norm, self.scale = torch.nn.LayerNorm(2), torch.nn.PReLU()
            self.last = torch.nn.Linear(2, 1)

    def weights(*names: str) -> Any:
        maker = KeyFunction(Net, "Net")
        [[drawn]] = arguments([strategies.networks(strategies.built(maker, *map(st.just, names)))], 1)
        return {name: weight.tolist() for name, weight in drawn.here().named_parameters()}

    one, two = weights("a", "b", "words"), weights("words", "b", "a")
    assert one == two and one["a.weight"] != one["b.weight"] and one["norm.weight"] == [1, 1]
    assert one["scale.weight"] == [0.25]
    assert one["words.weight"][0] == [0, 0] and 0 not in one["words.weight"][1]


def test_optimizer_belongs_to_its_network() -> None:
    torch = pytest.importorskip("torch")

    def step(loss: Any, model: Any, optimizer: Any) -> Any:
        optimizer.zero_grad()
        loss(model(torch.ones(1, 2)), torch.zeros(1, 3)).backward()
        optimizer.step()
        return model.weight.tolist()

    losses = strategies.networks(lambda: torch.nn.MSELoss())
    networks = strategies.networks(lambda: torch.nn.Linear(2, 3))
    optimizers = strategies.optimizers(torch.optim.SGD, lr=st.just(0.5))
    [drawn] = arguments([losses, networks, optimizers], 1)
    assert show(drawn[2]) == "torch.optim.SGD(network.parameters(), lr=0.5)"
    here = KeyFunction(step, "step")
    assert here(*drawn) == here(*drawn) == step(*in_a_box(drawn)) != drawn[1].here().weight.tolist()
    assert not has_plain_form(drawn[2])


def test_new_object_for_every_call() -> None:
    [[generator]] = arguments([strategies.built(np.random.default_rng, st.just(7))], 1)
    [[nested]] = arguments([strategies.built(collections.deque, st.just([strategies_deque()]))], 1)
    draw = KeyFunction(lambda rng: rng.random(), "draw")
    assert draw(generator) == draw(generator) == in_a_box(generator).random()
    take = KeyFunction(lambda queue: queue[0].popleft(), "take")
    assert take(nested) == take(nested) == 5


def strategies_deque() -> Any:
    [[inner]] = arguments([strategies.built(collections.deque, st.just([5, 6]))], 1)
    return inner


def test_refused_arguments() -> None:
    steps = strategies.built(range, st.just(0), st.just(4), st.integers(-1, 1))
    assert {repr(made) for [made] in arguments([steps], 30)} == {"range(0, 4, -1)", "range(0, 4, 1)"}


def test_object_without_code() -> None:
    class Own:
        pass

    with pytest.raises(NoCode, match="Own"):
        strategies.built(Own)
    with pytest.raises(NoCode, match="of type Random cannot be written"):
        arguments([strategies.built(collections.deque, st.just([random.Random(1)]))], 1)
