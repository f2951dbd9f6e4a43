"""A proposed test of a class: its methods in a random order, compared call by call."""

import inspect
from collections.abc import Sequence

from viva.plugins.authoring.solved.class_trial import errors_of_constructor, fit_constructor, untestable
from viva.plugins.authoring.solved.doubts import doubt_about
from viva.plugins.authoring.solved.forms import Forms, code
from viva.plugins.authoring.solved.method_forms import forms_of_method, written_arguments
from viva.plugins.authoring.solved.network_proposal import is_network_class, of_network
from viva.plugins.authoring.solved.proposal import Proposal, used_in, written_call
from viva.plugins.authoring.solved.recorded_run import SPECIAL_METHODS, Recorded
from viva.plugins.authoring.solved.scalar_forms import Undrawable
from viva.plugins.authoring.solved.solution_code import summary_of


def of_class(name: str, recorded: Recorded) -> Proposal:
    """Propose a test that makes objects, calls their methods in a random order and compares what they return."""
    cls = recorded.originals.get(name)
    proposal = Proposal(name, summary=summary_of(name, cls))
    if not isinstance(cls, type):
        proposal.why_not = "it was not defined when the notebook ran"
        return proposal
    if why := doubt_about(name, recorded):
        proposal.why_not = why
        return proposal
    if is_network_class(cls):
        return of_network(name, cls, recorded)
    try:
        made = forms_of_method(f"{name}.__init__", getattr(cls, "__init__", None), recorded)
    except Undrawable as what:
        proposal.why_not = f"viva cannot draw {what}"
        return proposal
    if made is None:
        proposal.why_not = "it is never made"
        return proposal
    if (errors := errors_of_constructor(cls, made)) is None:
        proposal.why_not = "its constructor answers too few of the arguments that viva draws"
        return proposal
    methods, left_out = _drawn_methods(cls, recorded)
    fit_constructor(cls, made, methods)
    left_out |= untestable(cls, made, methods)
    methods = {method: forms for method, forms in methods.items() if method not in left_out}
    if not methods:
        reasons = (f"`{method}` is not tested: {why}" for method, why in left_out.items())
        proposal.why_not = next(reasons, "the notebook calls none of its methods")
        return proposal
    proposal.warnings += [f"`{name}.{method}` is not tested: {why}." for method, why in left_out.items()]
    proposal.definitions += [text for forms in (made, *methods.values()) for text in forms.definitions]
    used = used_in([text for forms in (made, *methods.values()) for text in forms.written()])
    given = made.written()
    fewest = min((len(call.arguments) - 1 for call in recorded.calls.get(f"{name}.__init__", [])), default=len(given))
    arguments = written_arguments(given, fewest)
    lines = ["    calls = one_of("]
    for method, forms in methods.items():
        lines.append(f"        {_call_of(method, forms.written())},")
    lines.append("    )")
    options = [f'errors="{errors}"'] if errors != "fault" else []
    sides = [f"played(student.{name})", f"key.played_{name}", arguments, "sequences(calls, (1, 8))", *options]
    proposal.body = [*lines, *written_call("agree_on", sides)]
    proposal.imports |= {"agree_on", "played"}
    proposal.strategies |= {*used, "just", "one_of", "sequences", "tuples"}
    return proposal


def _drawn_methods(cls: type, recorded: Recorded) -> tuple[dict[str, Forms], dict[str, str]]:
    """Return how to draw the arguments of methods, and why those of others cannot be drawn."""
    methods: dict[str, Forms] = {}
    left_out: dict[str, str] = {}
    for method in _methods(cls, recorded):
        try:
            forms = forms_of_method(f"{cls.__name__}.{method}", getattr(cls, method), recorded)
        except Undrawable as what:
            left_out[method] = f"viva cannot draw its argument {what}"
            continue
        if forms is not None:
            methods[method] = forms
    return methods, left_out


def _call_of(method: str, arguments: Sequence[str]) -> str:
    return f"tuples({', '.join([f'just({code(method)})', *arguments])})"


def _methods(cls: type, recorded: Recorded) -> list[str]:
    """Return the methods to call; of special ones only those that the notebook uses and viva can draw arguments for."""
    found = [name for name, function in vars(cls).items() if inspect.isfunction(function)]
    return [name for name in found if not name.startswith("_") or _is_used(cls, name, recorded)]


def _is_used(cls: type, name: str, recorded: Recorded) -> bool:
    whole = f"{cls.__name__}.{name}"
    try:
        return (
            name in SPECIAL_METHODS
            and bool(recorded.calls.get(whole))
            and (forms_of_method(whole, getattr(cls, name), recorded) is not None)
        )
    except Undrawable:  # another object of the class
        return False
