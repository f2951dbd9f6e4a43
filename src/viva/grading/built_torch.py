"""Networks and optimizers of torch as arguments of a test: the code that makes them, in the sandbox and here."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, TypeGuard

from viva.grading.built import once, written
from viva.sandbox.guest.transport.wire import Code

_HELPERS: Final = """\
import torch
import zlib

def seeded(seed, make):
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return make()

def filled(seed, network):
    for name, weights in network.named_parameters():
        values = weights.unique()
        if len(values) > 1 or (weights.numel() == 1 and values.item() not in (0, 0.25, 1)):
            torch.default_generator.manual_seed(zlib.crc32(f"{seed} {name}".encode()))
            most = weights.shape[-1] ** -0.5
            drawn = torch.empty_like(weights).uniform_(-most, most)
            with torch.no_grad():
                weights.copy_(torch.where(weights == 0, 0, drawn))
    return network"""
"""Run here and in the sandbox. `filled` draws weights that depend on their names and sizes, and not on the order in
which the layers are made; what is constant stays so, and what is 0, as the embedding of padding."""
_SEEDED: Final = "seeded("
_NETWORK: Final = """\
import torch
network = next(each for each in before if isinstance(each, torch.nn.Module) and any(True for _ in each.parameters()))"""


def network_by(maker: Code, seed: int, *, dropout: bool = False) -> Code:
    """Return the code of a network whose first weights follow from a seed.

    Args:
        maker: a function without arguments that makes it, or the code of one.
        seed: for torch's generator, which draws afterwards as if no network had been made.
        dropout: whether a layer of dropout comes first.
    """
    if maker.make is not None:  # of a class that the submission has as well, perhaps with its layers in another order
        text, shown = f"filled({seed}, {maker.expression})", maker.shown
        after = f"with random weights (seed {seed})"
    else:
        text = shown = _called(maker.expression)
        after = f"after torch.manual_seed({seed})"
    if dropout:
        text, shown = (f"torch.nn.Sequential(torch.nn.Dropout(), {each})" for each in (text, shown))

    def network() -> object:
        import torch

        made: Any = maker() if maker.make is None else defined(_HELPERS, "filled")(seed, maker.here())
        return torch.nn.Sequential(torch.nn.Dropout(), made) if dropout else made

    return Code(
        f"{_SEEDED}{seed}, lambda: {text})",
        once([_HELPERS, maker.statements]),
        make=lambda _: defined(_HELPERS, "seeded")(seed, network),
        shown=f"{shown} {after}",
    )


def is_network(argument: object) -> TypeGuard[Code]:
    """Return whether an argument is the code of a network."""
    return type(argument) is Code and argument.expression.startswith(_SEEDED)


@lru_cache
def defined(source: str, name: str) -> Callable[..., Any]:
    """Return the function or class of that name that the source code of this package for the sandbox defines."""
    names: dict[str, Any] = {}
    exec(source, names)  # noqa: S102  # of this package
    found: Callable[..., Any] = names[name]
    return found


def _called(function: str) -> str:
    """Return a call, without arguments, of a function's code."""
    return function.removeprefix("lambda: ") if function.startswith("lambda: ") else f"{function}()"


def optimizer_by(maker: Code, named: Mapping[str, object]) -> Code:
    """Return the code of an optimizer of the first network among the arguments before it.

    Args:
        maker: a class of torch.optim.
        named: what it gets besides the network's parameters.
    """
    options = "".join(f", {name}={written(value).expression}" for name, value in named.items())

    def make(before: Sequence[Any]) -> object:
        import torch

        networks = (each for each in before if isinstance(each, torch.nn.Module))
        parameters = next(found for network in networks if (found := list(network.parameters())))
        return maker(parameters, **named)

    return Code(
        f"{maker.expression}(network.parameters(){options})",
        once([_NETWORK, maker.statements]),
        make=make,
        shown=f"{maker.shown}(network.parameters(){options})",
    )
