"""A proposed test of a class: its methods in a random order, compared call by call."""

import inspect
from collections.abc import Callable, Mapping, Sequence

from viva.plugins.authoring.solved.doubts import doubt_about
from viva.plugins.authoring.solved.forms import Forms, code
from viva.plugins.authoring.solved.method_forms import forms_of_method, written_arguments
from viva.plugins.authoring.solved.network_proposal import is_network_class, of_network
from viva.plugins.authoring.solved.proposal import Proposal, used_in, written_call
from viva.plugins.authoring.solved.recorded_run import SPECIAL_METHODS, Recorded
from viva.plugins.authoring.solved.scalar_forms import Undrawable
from viva.plugins.authoring.solved.solution_code import raised_in, summary_of
from viva.plugins.authoring.solved.trial import AS_MANY, tried


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


def errors_of_constructor(cls: type, made: Forms) -> str | None:
    """Return how a test treats a constructor that raises, as the option `errors` of `agree_on`.

    Args:
        cls: the solution's class.
        made: how to draw the constructor's arguments; narrowed if the solution refuses too many.

    Returns:
        None if the solution refuses too many in any case.
    """
    constructor = vars(cls).get("__init__")
    own = raised_in(constructor) if inspect.isfunction(constructor) else frozenset()
    if not made.arguments:
        return "fault"
    answers = tried(cls, made, own)
    if answers.raised:
        for slot in made.slots:
            slot.at = 0
        answers = tried(cls, made, own)
    if not answers.enough:
        return None
    return answers.errors(own)


def fit_constructor(cls: type, made: Forms, methods: Mapping[str, Forms]) -> None:
    """Draw the constructor's arguments as widely as its methods still answer.

    Args:
        cls: the solution's class.
        made: how to draw the constructor's arguments; changed in place.
        methods: how to draw those of its methods.
    """

    def share() -> float:
        found = [tried(*_asking(cls, made, method, forms)).share for method, forms in methods.items()]
        return sum(found) / max(1, len(found))

    wide = [slot.at for slot in made.slots]
    before = share()
    for slot in made.slots:
        slot.at = 0
    narrow = share()
    if narrow * AS_MANY <= before:
        for slot, at in zip(made.slots, wide, strict=True):
            slot.at = at
    best = max(before, narrow)
    for size in made.sizes:
        size.fixed = False
    if share() < best * AS_MANY:
        for size in made.sizes:
            size.fixed = True


def untestable(cls: type, made: Forms, methods: Mapping[str, Forms]) -> dict[str, str]:
    """Return the methods whose results a test cannot compare, and why."""
    found = {method: _why_untestable(cls, made, method, forms) for method, forms in methods.items()}
    return {method: why for method, why in found.items() if why}


def _why_untestable(cls: type, made: Forms, method: str, forms: Forms) -> str:
    answers = tried(*_asking(cls, made, method, forms))
    if answers.attributes:
        return "it returns an object of a class of the notebook"
    if not answers.plain:
        return f"it returns an object of type {answers.odd_type}, which a test cannot compare"
    if answers.differs:
        return "it gives two results for the same arguments"
    if not answers.answered and answers.raised.keys() == {"NotImplementedError"}:
        return "it only raises NotImplementedError"
    return ""


def _asking(cls: type, made: Forms, method: str, forms: Forms) -> tuple[Callable[..., object], Forms]:
    """Return a function that makes an object and calls a method of it, and how to draw its arguments."""
    count = len(made.arguments)

    def ask(*given: object) -> object:
        return getattr(cls(*given[:count]), method)(*given[count:])

    arguments, needed = [*made.arguments, *forms.arguments], [*made.needed, *forms.needed]
    return ask, Forms(arguments, namespace=made.namespace, needed=needed)
