"""Networks and optimizers of torch as arguments of a test: the code that makes them, in the sandbox and here."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from viva.grading.built import once, written
from viva.sandbox.guest.transport.wire import Code

_SEEDED: Final = """\
import torch

def seeded(seed, make):
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return make()"""
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
    text, shown = (maker.expression, maker.shown) if maker.make is not None else [_called(maker.expression)] * 2
    if dropout:
        text, shown = (f"torch.nn.Sequential(torch.nn.Dropout(), {each})" for each in (text, shown))

    def make(_: object) -> object:
        import torch

        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            made: Any = maker() if maker.make is None else maker.here()
            return torch.nn.Sequential(torch.nn.Dropout(), made) if dropout else made

    return Code(
        f"seeded({seed}, lambda: {text})",
        once([_SEEDED, maker.statements]),
        make=make,
        shown=f"{shown} after torch.manual_seed({seed})",
    )


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
