"""A proposed test of what makes networks, a class or a function: what they compute, whatever layers are called."""

import copy
import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from viva.grading.functions import is_literal
from viva.plugins.authoring.solved.forms import Forms, SizeSlot, code
from viva.plugins.authoring.solved.method_forms import forms_of_calls, written_arguments
from viva.plugins.authoring.solved.proposal import Proposal, used_in, written_call
from viva.plugins.authoring.solved.recorded_run import Recorded
from viva.plugins.authoring.solved.scalar_forms import Undrawable
from viva.plugins.authoring.solved.solution_code import raised_in, summary_of
from viva.plugins.authoring.solved.trial import Answers, fitted

_FORWARD: Final = "forward"
_SIZES: Final = "    # Layers of other sizes than yours lose points. Delete this test if students choose the sizes."
_INPUT: Final = "x"
_ROWS, _ROOM = 7, 16
"""The length of an input, and the side of an image: neither is likely to be the size of a layer."""
_MOST_MADE: Final = 3
"""Networks of other arguments, if no others than the notebook's can be drawn."""


@dataclass(frozen=True, slots=True)
class _Call:
    """One call of a network, and what that was made from."""

    made: dict[str, Any]
    inputs: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Maker:
    """A class or function that makes networks, and the calls of these networks in the notebook."""

    name: str
    make: Callable[..., Any]
    code: Callable[..., Any]
    """Holds the texts and constants that inputs may depend on."""
    made: list[inspect.Parameter]
    inputs: list[inspect.Parameter]
    own: frozenset[str]
    """Types of exceptions that the solution raises itself."""
    calls: list[_Call]

    def output(self, made: Sequence[Any], inputs: Sequence[Any]) -> object:
        """Return what a network computes with the weights of a test."""
        from viva.grading.networks import outputs_of

        return outputs_of(self.make, made, inputs)


def is_network_class(cls: type) -> bool:
    """Return whether a class is one of torch's modules that says what it computes; torch is not imported."""
    nn = sys.modules.get("torch.nn")
    return nn is not None and issubclass(cls, nn.Module) and inspect.isfunction(vars(cls).get(_FORWARD))


def of_network(name: str, cls: type, recorded: Recorded) -> Proposal:
    """Propose a test that compares a network's output with that of the solution's, from the same weights."""
    proposal = Proposal(name, summary=summary_of(name, cls))
    calls = _calls(name, cls, recorded)
    if not calls:
        proposal.why_not = "the notebook makes no such network, or does not call it"
        return proposal
    try:
        made, inputs = _parameters(vars(cls).get("__init__")), _parameters(vars(cls)[_FORWARD])
        maker = _Maker(name, cls, vars(cls)[_FORWARD], made, inputs, _own(cls), calls)
        _propose(maker, recorded, proposal)
    except Undrawable as what:
        proposal.why_not = f"viva cannot draw {what}"
    methods = [other for other, found in vars(cls).items() if inspect.isfunction(found) and not other.startswith("_")]
    if proposal.body:
        others = [other for other in methods if other != _FORWARD]
        proposal.warnings += [f"`{name}.{other}` is not tested: only what the network computes is." for other in others]
    return proposal


def of_made_networks(proposal: Proposal, function: Callable[..., Any], recorded: Recorded) -> bool:
    """Propose to compare what the networks compute that a function returns; return False if that is not possible.

    Args:
        proposal: is completed.
        function: the solution's function.
        recorded: the run of the notebook.
    """
    calls = []
    for call in recorded.calls.get(proposal.name, []):
        try:
            found = input_for(function(*copy.deepcopy(call.args), **copy.deepcopy(call.kwargs)))
        except Exception:  # it raises outside of the notebook, or has not returned a network in this call
            return False
        if found is None:
            return False
        calls.append(_Call(dict(call.arguments), {_INPUT: found}))
    if not calls:
        return False
    made = list(inspect.signature(function).parameters.values())
    inputs = [inspect.Parameter(_INPUT, inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    if any(each.kind is not each.POSITIONAL_OR_KEYWORD for each in made):
        return False
    try:
        _propose(
            _Maker(proposal.name, function, function, made, inputs, raised_in(function), calls), recorded, proposal
        )
    except Undrawable:
        return False
    return bool(proposal.body)


def input_for(network: Any) -> Any:
    """Return an input for a network by its first layer with weights; None if that is not known, or does not fit."""
    import torch

    for layer in network.modules():
        kind = type(layer)
        if kind is torch.nn.Linear:
            found = torch.rand(_ROWS, layer.in_features)
        elif kind is torch.nn.Embedding:
            found = torch.randint(0, layer.num_embeddings, (_ROWS, 5))
        elif kind in (torch.nn.Conv1d, torch.nn.Conv2d):
            found = torch.rand(_ROWS, layer.in_channels, *[_ROOM] * len(layer.kernel_size))
        elif kind in (torch.nn.RNN, torch.nn.LSTM, torch.nn.GRU):
            found = torch.rand(_ROWS, 5, layer.input_size)
        else:
            continue
        try:
            network(found)
        except Exception:
            return None
        return found
    return None


def _propose(maker: _Maker, recorded: Recorded, proposal: Proposal) -> None:
    """Add a test to a proposal, or the reason why there is none.

    Raises:
        Undrawable: an argument has a type that cannot be drawn.
    """
    lines, errors = _of_drawn(maker, recorded, proposal)
    if not lines or errors == "skip":  # sizes that do not fit each other, among others
        lines = _of_made(maker, recorded, proposal) or lines
    if not lines:
        proposal.why_not = proposal.why_not or "the solution answers too few of the inputs that viva draws"
        return
    proposal.why_not, proposal.body = "", [_SIZES, *lines]
    proposal.imports |= {"agree_on", "outputs"}
    proposal.strategies |= {*used_in(["\n".join(lines)]), "tuples"}


def _calls(name: str, cls: type, recorded: Recorded) -> list[_Call]:
    """Return the calls of networks of which it is known what they were made from."""
    found = []
    for call in recorded.calls.get(f"{name}.{_FORWARD}", []):
        (_, network), *inputs = call.arguments.items()
        if id(network) in recorded.made:
            made = list(recorded.made[id(network)][1].arguments.items())[1:]
        elif not inspect.isfunction(vars(cls).get("__init__")):
            made = []
        else:
            continue
        found.append(_Call(dict(made), dict(inputs)))
    return found


def _of_drawn(maker: _Maker, recorded: Recorded, proposal: Proposal) -> tuple[list[str], str]:
    """Return a test that draws the constructor's arguments as well, and how it treats those that are refused.

    There is no test if the solution answers too few.
    """
    known = {each.name for each in maker.made}
    renamed = {each.name: f"{each.name}_" if each.name in known else each.name for each in maker.inputs}
    every = [*maker.made, *(each.replace(name=renamed[each.name]) for each in maker.inputs)]
    given = [{**call.made, **{renamed[n]: value for n, value in call.inputs.items()}} for call in maker.calls]
    forms = _forms(maker, every, given, recorded)
    _tie_sizes(forms, given)
    count = len(maker.made)
    answers = fitted(lambda *all_: maker.output(all_[:count], all_[count:]), forms, maker.own)
    if not _answered(answers, proposal):
        return [], ""
    proposal.definitions += forms.definitions
    written = forms.written()
    fewest = min(len(call.made) for call in maker.calls)
    errors = answers.errors(maker.own)
    return _line(maker.name, written[:count], written[count:], errors=errors, fewest=fewest), errors


def _of_made(maker: _Maker, recorded: Recorded, proposal: Proposal) -> list[str]:
    """Return a test with networks as the notebook makes them, and other inputs."""
    lines: list[str] = []
    plain = [call for call in maker.calls if all(is_literal(repr(value)) for value in call.made.values())]
    for made in list(dict.fromkeys(repr(call.made) for call in plain))[:_MOST_MADE]:
        alike = [call for call in plain if repr(call.made) == made]
        count = max((at for at, each in enumerate(maker.made, 1) if each.name in alike[0].made), default=0)
        arguments = [alike[0].made.get(each.name, each.default) for each in maker.made[:count]]
        forms = _forms(maker, maker.inputs, [call.inputs for call in alike], recorded)
        for size in forms.sizes:
            size.fixed = True
        answers = fitted(lambda *given, made=arguments: maker.output(made, given), forms, maker.own)
        if _answered(answers, proposal):
            proposal.definitions += [text for text in forms.definitions if text not in proposal.definitions]
            given = [f"just({code(value)})" for value in arguments]
            lines += _line(maker.name, given, forms.written(), errors=answers.errors(maker.own))
    return lines


def _line(
    name: str, made: Sequence[str], inputs: Sequence[str], *, errors: str, fewest: int | None = None
) -> list[str]:
    """Return a test, in which the constructor gets `fewest` arguments or all; None for always all."""
    drawn = [written_arguments(made, len(made) if fewest is None else fewest), f"tuples({', '.join(inputs)})"]
    options = [f'errors="{errors}"'] if errors != "fault" else []
    return written_call("agree_on", [f"outputs(student.{name})", f"key.outputs_{name}", *drawn, *options])


def _parameters(function: object) -> list[inspect.Parameter]:
    """Return the parameters of a method without `self`, all of which are passed by position; none if it is none."""
    if not inspect.isfunction(function):
        return []
    found = list(inspect.signature(function).parameters.values())[1:]
    for each in found:
        if each.kind is not each.POSITIONAL_OR_KEYWORD:
            raise Undrawable(f"`{each.name}`, which is not passed by position")
    return found


def _forms(
    maker: _Maker, parameters: Sequence[inspect.Parameter], given: Sequence[dict[str, Any]], recorded: Recorded
) -> Forms:
    """Return how to draw arguments like those given."""
    return forms_of_calls(maker.code, inspect.Signature(_in_order(parameters)), given, recorded)


def _in_order(parameters: Sequence[inspect.Parameter]) -> list[inspect.Parameter]:
    """Return parameters of which none without a default follows one that has one; the latter are always passed."""
    first = next((at for at, each in enumerate(parameters) if each.default is not each.empty), len(parameters))
    return [
        each.replace(default=None) if at > first and each.default is each.empty else each
        for at, each in enumerate(parameters)
    ]


def _tie_sizes(forms: Forms, given: Sequence[dict[str, Any]]) -> None:
    """Draw an integer of the constructor that was the size of an axis in every call as that size."""
    groups = {size.seen: size.group for size in forms.sizes if not size.fixed}
    for at, (name, keyword, _) in enumerate(forms.arguments):
        seen = tuple(each.get(name) for each in given)
        if seen in groups and all(type(value) is int for value in seen):
            forms.arguments[at] = (name, keyword, ["sizes(", SizeSlot(seen, groups[seen]), ")"])


def _own(cls: type) -> frozenset[str]:
    constructor = vars(cls).get("__init__")
    return raised_in(vars(cls)[_FORWARD]) | (raised_in(constructor) if constructor is not None else frozenset())


def _answered(answers: Answers, proposal: Proposal) -> bool:
    """Return whether a test can compare the answers; say why not."""
    if not answers.enough:
        return False
    if not answers.plain:
        proposal.why_not = f"it returns an object of type {answers.odd_type}, which a test cannot compare"
    elif answers.differs:
        proposal.why_not = "it gives two results for the same weights and inputs"
    return answers.plain and not answers.differs
