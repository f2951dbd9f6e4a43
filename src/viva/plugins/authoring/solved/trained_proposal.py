"""A proposed test of a function that trains or changes networks: what it returns, and the weights afterwards."""

import copy
import inspect
import math
import re
from collections.abc import Callable, Iterable, Iterator, Set
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from viva.compare.agree import difference
from viva.compare.context import Context
from viva.plugins.authoring.solved.forms import Form, Forms
from viva.plugins.authoring.solved.network_code import is_network
from viva.plugins.authoring.solved.proposal import Proposal, used_in, written_call
from viva.plugins.authoring.solved.recorded_run import Recorded
from viva.plugins.authoring.solved.trial import LONGEST_CALL_S, TooSlow, tried, within
from viva.submissions.code_names import used_names

AFTERWARDS: Final = "networks afterwards"
_ADAPTIVE: Final = re.compile(r"\b(Ada\w+|[NR]?Adam\w*|RMSprop|Rprop|SparseAdam)\b")
"""Optimizers that divide a gradient by its size."""
_BY_SIGN: Final = re.compile(r"\b(Rprop|Adafactor)\b")
"""Those of which `trained` cannot soften the steps: where a gradient is 0 but for rounding, they make one of it."""

_ADAPTS: Final = "optimizers such as Rprop make whole steps of errors of rounding"
_GROWS: Final = "errors of rounding grow while it trains"
_SGD: Final = "optimizers(torch.optim.SGD, lr=sampled_from([0.1, 0.05, 0.2]))"
_LITTLE: Final = 1e-6
"""How much weights are changed to see whether errors of rounding, a tenth of it, grow."""
_MUCH: Final = 1e-2
_SLIGHTLY: Final = 1e-5


def replace_networks(function: Callable[..., Any], calls: Iterable[inspect.BoundArguments], written: Set[str]) -> None:
    """Pass layers of torch in place of networks that students write, so that all students' functions get the same.

    Args:
        function: the solution's function.
        calls: the notebook's calls of it, changed in place; one that it does not answer with such layers stays.
        written: the names that students write.
    """
    for call in calls:
        for name, network in list(call.arguments.items()):
            if is_network(network) and not written.isdisjoint(type(part).__name__ for part in network.modules()):
                try:
                    call.arguments[name] = _layers_like(network, *_first_use(network, function, call))
                    _first_use(call.arguments[name], function, call)
                except Exception:  # it uses more of the network than what that computes
                    call.arguments[name] = network


def _first_use(network: Any, function: Callable[..., Any], call: inspect.BoundArguments) -> tuple[Any, Any]:
    """Return what a function first gives to a network, and what that computes; raise what the function raises."""
    seen: list[tuple[Any, Any]] = []
    hook = network.register_forward_hook(lambda _, inputs, output: seen.append((*inputs, output)))
    given = copy.deepcopy(call)
    hook.remove()
    with suppress(TooSlow), within(LONGEST_CALL_S):
        function(*given.args, **given.kwargs)
    return seen[0]


def _layers_like(network: Any, given: Any, output: Any) -> Any:
    """Return layers of torch that take what is given to a network, and compute something of the same size."""
    from torch import nn

    layers: list[Any]
    size = tuple(output.shape[1:])
    if not given.is_floating_point():
        words = next(part.num_embeddings for part in network.modules() if isinstance(part, nn.Embedding))
        layers = [(nn.Embedding if output.ndim > given.ndim else nn.EmbeddingBag)(words, (1, *size)[-1])]
    elif given.shape[:-1] == output.shape[:-1]:
        layers = [nn.Linear(given.shape[-1], output.shape[-1])]
    else:
        layers = [nn.Flatten(), nn.Linear(math.prod(given.shape[1:]), math.prod(size))]
        layers += [nn.Unflatten(1, size)] if size[1:] else []
    layers += [] if size else [nn.Flatten(0)]
    layers += [nn.Sigmoid()] if output.min() >= 0 and output.max() <= 1 else []
    return nn.Sequential(*layers) if layers[1:] else layers[0]


def of_networks(
    proposal: Proposal, function: Callable[..., Any], forms: Forms, own: frozenset[str], recorded: Recorded
) -> bool:
    """Propose to compare what a function makes of networks, and return True; return False if it is none of these.

    Args:
        proposal: is completed.
        function: the solution's function.
        forms: how to draw its arguments.
        own: types of exceptions that the solution raises itself.
        recorded: the run of the notebook.
    """
    forms = replace(forms, arguments=[(name, keyword, _plain_descent(form)) for name, keyword, form in forms.arguments])
    written = forms.written()
    if any(keyword for _, keyword, _ in forms.arguments) or not any("networks(" in text for text in written):
        return False
    trial = _Trial(function)
    answers = tried(trial, forms, own)
    returned = any(isinstance(value, dict) and _is_described(value.get("returned")) for value in answers.values)
    if not answers.enough or not answers.plain or answers.differs or not (returned or trial.changed):
        return False
    name = proposal.name
    nothing = all(isinstance(value, dict) and value["returned"] is None for value in answers.values)
    by_sign = any(map(_BY_SIGN.search, _sources(function, recorded)))
    if by_sign or trial.differed >= _MUCH:
        why = f"cannot be compared: {_ADAPTS if by_sign else _GROWS}"
        if nothing:
            proposal.why_not = f"it returns nothing, and the weights afterwards {why}"
            return True
        proposal.warnings.append(f"The weights after `{name}` {why}.")
        return False
    options = [f'errors="{errors}"'] if (errors := answers.errors(own)) != "fault" else []
    for count in sorted({forms.required, len(written)}, reverse=True):
        if count:
            fewer = ["examples=25"] if count < len(written) else []
            given = [
                f"trained(student.{name}{', returned=False' if nothing else ''})",
                f"key.trained_{name}",
                *written[:count],
                f"rtol={'1e-3' if trial.differed else '1e-4'}",
                *options,
                *fewer,
            ]
            proposal.body += written_call("agree_on", given)
    proposal.imports |= {"agree_on", "trained"}
    proposal.strategies |= used_in(written)
    return True


def _plain_descent(form: Form) -> Form:
    """Return a form in which optimizers that are passed are plain ones; a function treats all optimizers alike."""
    text = "".join(part for part in form if isinstance(part, str))
    return [_SGD] if text.startswith("optimizers(") and _ADAPTIVE.search(text) else form


class _Trial:
    """Calls a function with networks, and notes whether it changes them and how stable the result is."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.changed = False
        self.differed = 0.0
        """By how much at least results differed where weights did by `_LITTLE`: 0, `_SLIGHTLY` or `_MUCH`."""

    def __call__(self, *arguments: object) -> dict[str, object]:
        """Return what `trained_of` returns."""
        from viva.grading.networks import trained_of

        moved = list(map(_moved, copy.deepcopy(arguments)))
        before = trained_of(lambda *_: None, *arguments)[AFTERWARDS]
        done = trained_of(self._function, *arguments)
        other = trained_of(self._function, *moved)
        self.changed |= difference(done[AFTERWARDS], before, Context.of(0, 0, ())) is not None
        for least in (_SLIGHTLY, _MUCH):
            if difference(other, done, Context.of(least, None, ())) is not None:
                self.differed = max(self.differed, least)
        return done


def _moved(value: Any) -> Any:
    """Return a network with weights that are changed a little; any other value as it is."""
    import torch

    if isinstance(value, torch.nn.Module):
        with torch.no_grad():
            for weight in value.parameters():
                weight.mul_(1 + _LITTLE)
    return value


def _is_described(value: object) -> bool:
    return isinstance(value, dict) and value.keys() == {"weights", "fixed weights"}


def _sources(function: Callable[..., Any], recorded: Recorded) -> Iterator[str]:
    """Yield the source code of a function, and of those of the notebook that it uses, directly or not."""
    left, seen = [function.__name__], set[str]()
    while left:
        name = left.pop()
        found = recorded.originals.get(name)
        if name in seen or not inspect.isfunction(found):
            continue
        seen.add(name)
        source = inspect.getsource(found)
        yield source
        left += used_names(source)
