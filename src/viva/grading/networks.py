"""Networks that students write, train or change: what they compute, and which weights they have afterwards."""

import contextlib
from collections.abc import Callable, Sequence
from typing import Any, Final

from viva.grading.built_torch import defined, is_network
from viva.model.errors import StudentRaised
from viva.proxies.proxies import Handle
from viva.sandbox.guest.transport.wire import Code

_PROBE: Final = """\
import torch
import zlib

class Probe:
    def __init__(self):
        self.modules, self.weights, self.lazy = [], {}, False

    def __call__(self, module):
        self.modules.append(module)
        module.training = False
        self.fill(module)
        module.register_forward_hook(self.after)

    def fill(self, module):
        for weight in module.parameters(recurse=False):
            if isinstance(weight, torch.nn.parameter.UninitializedParameter):
                self.lazy = True
                continue
            size = tuple(weight.shape)
            drawing = torch.Generator().manual_seed(zlib.crc32(str(size).encode()))
            most = (size or (1,))[-1] ** -0.5
            with torch.no_grad():
                weight.copy_(torch.empty(size).uniform_(-most, most, generator=drawing))
            self.weights[id(weight)] = weight

    def after(self, module, inputs, output):
        if module is not self.modules[-1]:
            return None
        if self.lazy:
            self.weights, self.lazy = {}, False
            for each in self.modules:
                self.fill(each)
            return module(*inputs)
        found = [value for value in tensors(output) if value.requires_grad]
        weights = [weight for weight in self.weights.values() if weight.requires_grad]
        slopes = torch.autograd.grad(sum(each.sum() for each in found), weights, allow_unused=True) if found else []
        used = sorted(list(weight.shape) for weight, slope in zip(weights, slopes) if slope is not None)
        return {"output": detached(output), "sizes of the weights that it depends on": used}

def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    values = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [tensor for each in values for tensor in tensors(each)]

def detached(value):
    if isinstance(value, torch.Tensor):
        return value.detach()
    if isinstance(value, dict):
        return {key: detached(each) for key, each in value.items()}
    return type(value)(map(detached, value)) if type(value) in (list, tuple) else value"""
"""Run here and in the sandbox. `apply` calls a probe with each module, the network itself last. Weights of one size are
equal, so that neither the names of layers nor their order matter; which of them the output depends on tells whether a
layer is left out or used in place of another. Layers that find their sizes in the first call are filled after it."""


_TRAINING: Final = """\
from torch.optim import optimizer as optimizers

def soften(optimizer, given, named):
    for group in optimizer.param_groups:
        if type(group.get("eps")) is float:
            group["eps"] = max(group["eps"], 0.01)

def begin():
    end()
    optimizers.viva_softened = optimizers.register_optimizer_step_pre_hook(soften)

def end():
    if (hook := vars(optimizers).pop("viva_softened", None)) is not None:
        hook.remove()"""
"""Run here and in the sandbox. Optimizers such as Adam divide a slope by its size: where it is 0 but for rounding, that
makes a whole step of it. Between `begin` and `end`, what they add to the size makes no step of such a slope."""
_WEIGHTS: Final = f"""\
{_TRAINING}

end()

def note(module):
    weights = {{name: weight.detach().clone() for name, weight in module.named_parameters()}}
    fixed = sorted(name for name, weight in module.named_parameters() if not weight.requires_grad)
    module.viva_weights = {{"weights": weights, "fixed weights": fixed}}"""
"""Run here and in the sandbox, where it is called with each module of a network."""


def outputs(cls: Any) -> Callable[[Sequence[object], Sequence[object]], object]:
    """Return a function that makes a network of `student.Class`, and calls it in evaluation mode.

    It takes the arguments of the constructor, and the inputs. All weights are replaced by values that depend on their
    sizes alone. It returns a dictionary: the network's output, and the sizes of the weights that the output depends on.
    `key.outputs_Class`, written in the key, does the same for the right class, by `outputs_of`.
    """

    def run(arguments: Sequence[object], inputs: Sequence[object]) -> object:
        made = cls.keep(*arguments)
        made.apply(Code("Probe()", _PROBE))
        return made(*inputs)

    run.__name__ = cls.__name__
    return run


def outputs_of(cls: Callable[..., Any], arguments: Sequence[object], inputs: Sequence[object]) -> object:
    """Return what `outputs` returns, for a class of the key."""
    made = cls(*arguments)
    made.apply(defined(_PROBE, "Probe")())
    answer: object = made(*inputs)
    return answer


def trained(function: Any, *, returned: bool = True) -> Callable[..., dict[str, object]]:
    """Return a function that calls `student.f` with networks, and returns what it has made of them.

    It returns a dictionary: what the function returns, and of each network among its arguments the weights afterwards
    and the names of those that are fixed (`requires_grad` is false). A network that the function returns is described
    in the same way. `key.trained_f`, written in the key, does the same for the right function, by `trained_of`.
    With `returned=False` it does not matter what the student's function returns, because the right one returns nothing.
    While it runs, optimizers of torch with an option `eps`, such as Adam, use 0.01 at least.
    """

    def run(*arguments: object) -> dict[str, object]:
        done = function.call(*[_training(each) if is_network(each) else each for each in arguments])
        note, value = Code("note", _WEIGHTS), done.value if returned else None
        networks = [after for after, given in zip(done.args_after, arguments, strict=True) if is_network(given)]
        afterwards = [_noted(network, note) for network in networks]
        if done.raised is not None:
            raise done.raised
        if type(value) is Handle:
            with contextlib.suppress(StudentRaised):  # it is another object
                value = _noted(value, note)
        return {"returned": value, "networks afterwards": afterwards}

    run.__name__ = function.__name__
    return run


def _training(network: Code) -> Code:
    """Return the code of a network for a function that trains it."""
    statements = f"{network.statements}\n{_TRAINING}\nbegin()"
    return Code(network.expression, statements, make=network.make, shown=network.shown)


def _noted(network: Any, note: object) -> object:
    """Return the weights of a network, here or in the sandbox."""
    network.apply(note)
    return network.viva_weights


def trained_of(function: Callable[..., Any], *arguments: object) -> dict[str, object]:
    """Return what `trained` returns, for a function of the key."""
    import torch

    defined(_TRAINING, "begin")()
    try:
        value = function(*arguments)
    finally:
        defined(_TRAINING, "end")()
    note = defined(_WEIGHTS, "note")
    networks = [argument for argument in arguments if isinstance(argument, torch.nn.Module)]
    return {
        "returned": _noted(value, note) if isinstance(value, torch.nn.Module) else value,
        "networks afterwards": [_noted(network, note) for network in networks],
    }
