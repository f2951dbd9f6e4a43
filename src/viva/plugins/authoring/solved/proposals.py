"""Tests proposed for what a solved notebook defines, as source code; and what the author should know about it."""

import copy
import functools
import inspect
import re
from collections.abc import Callable, Sequence
from typing import Final

from viva.compare.agree import difference
from viva.compare.context import Context
from viva.grading.drawings import draws_data
from viva.plugins.authoring.solved.described_calls import described_calls
from viva.plugins.authoring.solved.doubts import doubt_about, unused_argument
from viva.plugins.authoring.solved.forms import Forms, code, source_code
from viva.plugins.authoring.solved.input_forms import forms_of
from viva.plugins.authoring.solved.network_code import is_network
from viva.plugins.authoring.solved.network_proposal import of_made_networks
from viva.plugins.authoring.solved.object_forms import is_random
from viva.plugins.authoring.solved.proposal import WIDTH, Proposal, used_in, written_call
from viva.plugins.authoring.solved.recorded_run import Recorded, seeded
from viva.plugins.authoring.solved.scalar_forms import Undrawable
from viva.plugins.authoring.solved.solution_code import constants_in, raised_in, summary_of, texts_in
from viva.plugins.authoring.solved.trained_proposal import of_networks, replace_networks
from viva.plugins.authoring.solved.trial import Answers, fitted, is_plain, plain_of, refuses_other_sizes

_SAID_NOWHERE: Final = "neither its annotations nor its docstring say what it takes"
_CHOICE: Final = re.compile(r"[A-Za-z][\w-]{0,30}")
"""A word that may be one of a few; its letters may be capital."""
_MOST_SEEN: Final = 6
"""Calls of the notebook that a test repeats."""
_RANDOM_ARGUMENTS: Final = frozenset({"seed", "random_state", "rng", "generator"})


def propose_function(name: str, recorded: Recorded) -> Proposal:
    """Propose a test that compares a function with the solution's on arguments like those of the notebook."""
    proposal = Proposal(name, summary=summary_of(name, recorded.originals.get(name)))
    function = recorded.originals.get(name)
    if function is None or not callable(function):
        proposal.why_not = "it was not defined when the notebook ran"
        return proposal
    proposal.why_not = doubt_about(name, recorded)
    return proposal if proposal.why_not else _of_known_function(proposal, function, recorded)


def _of_known_function(proposal: Proposal, function: Callable[..., object], recorded: Recorded) -> Proposal:
    name = proposal.name
    proposal.warnings += unused_argument(name, function)
    calls, own = recorded.calls.get(name, []), raised_in(function)
    replace_networks(function, calls, recorded.written)
    try:
        forms, answers, refusing = _fitted(name, function, recorded, own)
    except Undrawable as what:
        seen = "" if calls else f": the notebook never calls it, and {_SAID_NOWHERE}"
        return _of_seen_calls(proposal, function, calls, f"viva cannot draw its argument {what}{seen}")
    if not answers.enough:
        return _of_seen_calls(proposal, function, calls, _too_few(answers))
    proposal.definitions += forms.definitions
    if drawing := [n for n in forms.names if any(is_random(call.arguments.get(n)) for call in calls)]:
        proposal.warnings.append(
            f"`{name}` draws from its argument `{drawing[0]}`: a right answer that draws in another order loses points."
        )
    if of_networks(proposal, function, forms, own, recorded):
        return proposal
    if answers.differs and answers.plain:
        proposal.fixtures.append("rng")
        proposal.hidden = True
        for count in sorted({forms.required, len(forms.arguments)}, reverse=True):
            given = [f"student.{name}", f"key.{name}", *forms.written()[:count], "rng=rng"]
            proposal.body += written_call("agree_in_distribution", given)
        proposal.imports |= {"agree_in_distribution", "visibility"}
        proposal.strategies |= used_in(forms.written())
        return proposal
    if not answers.plain and all(map(draws_data, answers.values)):
        _write_drawing(proposal, forms, answers.errors(own))
        return proposal
    if reason := _no_comparison(answers):
        if not any(map(is_network, answers.values)) or not of_made_networks(proposal, function, recorded):
            proposal.why_not = reason
        return proposal
    errors = answers.errors(own)
    proposal.warnings += _raised_unforeseen(name, answers) if errors == "skip" else []
    _write(proposal, forms, answers, errors)
    if refusing is None and proposal.body and own and refuses_other_sizes(function, forms, own):
        refusing = forms
    if refusing is not None and proposal.body:
        line = written_call(
            "agree_on", [f"student.{name}", f"key.{name}", *refusing.written(), 'errors="expect"', "examples=25"]
        )
        proposal.body += line if "observed" not in proposal.imports else []
    return proposal


def _fitted(
    name: str, function: Callable[..., object], recorded: Recorded, own: frozenset[str]
) -> tuple[Forms, Answers, Forms | None]:
    """Return how to draw a function's arguments, how it answers then, and how to draw some that it may refuse.

    Calls that raise show an error. They say what the arguments are only if the solution raises it itself, and then only
    as long as it answers enough.

    Raises:
        Undrawable: an argument has a type that cannot be drawn.
    """
    calls, raised = recorded.calls.get(name, []), recorded.raised.get(name, [])
    answered = [call for call in calls if not any(call is other for other in raised)]
    seen = answered if answered and not own else calls
    read = functools.partial(
        forms_of, recorded=recorded, texts=texts_in(function), constants=constants_in(function), refuses=bool(own)
    )
    forms = read(function, seen or described_calls(function))
    answers = fitted(function, forms, own)
    if not answers.enough and 0 < len(answered) < len(seen):
        forms = read(function, answered)
        answers = fitted(function, forms, own)
    if answers.enough or not forms.choices:
        return forms, answers, None
    tied = read(function, answered or seen, tied=True)
    refusing = forms if answers.refused and answers.answered and answers.raised.keys() <= own else None
    return tied, fitted(function, tied, own), refusing


def of_value(name: str, recorded: Recorded, *, typed: bool = False) -> Proposal:
    """Propose a test that compares a variable with its value after the notebook has run.

    Args:
        name: the variable.
        recorded: the run.
        typed: whether the notebook says the value itself, and does not calculate it.
    """
    proposal = Proposal(name)
    if name not in recorded.namespace:
        proposal.why_not = "it was not defined when the notebook ran"
        return proposal
    value = plain_of(recorded.namespace[name])
    if not is_plain(value):
        proposal.why_not = f"a test cannot compare its value, an object of type {type(value).__name__}"
        return proposal
    compare = "agree_choice" if typed and isinstance(value, str) and _CHOICE.fullmatch(value) else "agree"
    proposal.imports.add(compare)
    proposal.body = [f"    {compare}(student.{name}, key.{name}, name={code(name)})"]
    return proposal


def _write(proposal: Proposal, forms: Forms, answers: Answers, errors: str) -> None:
    name = proposal.name
    keywords = [n for n, keyword, _ in forms.arguments if keyword]
    student, key = f"student.{name}", f"key.{name}"
    if keywords:
        given = ", ".join(n for n, _, _ in forms.arguments)
        passed = ", ".join(f"{n}={n}" if keyword else n for n, keyword, _ in forms.arguments)
        student, key = (f"lambda {given}: {side}.{name}({passed})" for side in ("student", "key"))
    if answers.attributes and (keywords or not forms.arguments):
        proposal.why_not = "it returns an object, and takes no arguments or some by keyword"
        return
    if not forms.arguments:
        proposal.body = [f"    agree(student.{name}(), key.{name}())"]
        proposal.imports.add("agree")
        return
    what = [w for w, seen in (("value", answers.returns), ("printed", answers.prints and not answers.returns),
                              ("arguments", answers.changes)) if seen]  # fmt: skip
    if answers.attributes:
        read = ", ".join(map(code, answers.attributes))
        student, key = f"student.{name}.attributes({read})", f"key.{name}.attributes({read})"
    elif what != ["value"]:
        if keywords:
            proposal.why_not = "it has arguments by keyword, and does not return its result"
            return
        shown = ", ".join(f'"{w}"' for w in what or ["value"])
        student, key = f"observed({student}, {shown})", f"observed({key}, {shown})"
        proposal.imports.add("observed")
    options = [f'errors="{errors}"'] if errors != "fault" else []
    proposal.body = written_call("agree_on", [student, key, *forms.written(), *options])
    if not keywords and 0 < (required := forms.required) < len(forms.arguments):
        line = written_call("agree_on", [student, key, *forms.written()[:required], *options, "examples=25"])
        proposal.body += line
    proposal.imports.add("agree_on")
    proposal.strategies |= used_in(forms.written())


def _write_drawing(proposal: Proposal, forms: Forms, errors: str) -> None:
    """Compare the data of what a function draws; a few examples, because each takes long."""
    name = proposal.name
    sides = [f"drawn(student.{name}, like=key.{name})", f"drawn(key.{name})"]
    options = [*([f'errors="{errors}"'] if errors != "fault" else []), "rtol=1e-3", "examples=10"]
    written = forms.written()
    for count in sorted({forms.required, len(written)}, reverse=True):
        proposal.body += written_call("agree_on", [*sides, *written[:count], *options])
    proposal.imports |= {"agree_on", "drawn"}
    proposal.strategies |= used_in(written)
    proposal.warnings.append(
        f"`{name}` draws: the data are compared; titles and labels of its own, and colours, are not."
    )


def _of_seen_calls(
    proposal: Proposal, function: Callable[..., object], calls: Sequence[inspect.BoundArguments], why: str
) -> Proposal:
    """Propose a test with the calls of the notebook itself, where they can be written down."""
    lines = []
    draws = any(name in _RANDOM_ARGUMENTS for each in calls for name in each.arguments)
    for call in calls if not draws else []:
        passed = [("", value) for value in call.args] + [(f"{name}=", value) for name, value in call.kwargs.items()]
        written = [(before, source_code(value)) for before, value in passed]
        given = ", ".join(before + text for before, text in written)
        try:
            two = [_once(function, call, seed) for seed in (1, 2)]
        except Exception:  # noqa: S112  # such a call says nothing about right answers
            continue
        same = all(map(is_plain, two)) and difference(two[0], two[1], Context.of(None, None, ())) is None
        if same and len(given) <= WIDTH - 40 and all(text for _, text in written):
            two_sides = [f"student.{proposal.name}({given})", f"key.{proposal.name}({given})"]
            lines.append("\n".join(written_call("agree", two_sides)))
    if not lines:
        proposal.why_not = why
        return proposal
    proposal.body = list(dict.fromkeys(lines))[:_MOST_SEEN]
    proposal.imports.add("agree")
    for maker, line in (("np.", "import numpy as np"), ("torch.", "import torch")):
        proposal.definitions += [line] if any(maker in text for text in proposal.body) else []
    return proposal


def _once(function: Callable[..., object], call: inspect.BoundArguments, seed: int) -> object:
    seeded(seed)
    given = copy.deepcopy(call)
    return plain_of(function(*given.args, **given.kwargs))


def _no_comparison(answers: Answers) -> str:
    if not answers.plain:
        kind = type(answers.values[0]).__name__ if answers.values else "value"
        return f"it returns a {kind}, which a test cannot compare"
    if not (answers.returns or answers.prints or answers.changes):
        return "it returns nothing, prints nothing and changes nothing"
    return ""


def _too_few(answers: Answers) -> str:
    raised = [f"{kind}{': ' if text else ''}{text}" for kind, (text, _) in answers.raised.items()]
    return f"it answers too few of the arguments that viva draws{f' ({raised[0]})' if raised else ''}"


def _raised_unforeseen(name: str, answers: Answers) -> list[str]:
    return [
        f"`{name}({shown})` raises {kind}{': ' if text else ''}{text}. Such arguments are not asked."
        for kind, (text, shown) in sorted(answers.raised.items())
    ]
