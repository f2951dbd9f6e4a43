"""Say which functions take other arguments than the starter asks for: the reason of errors deep inside a library."""

from collections.abc import Iterable, Mapping
from typing import Final

from viva.submissions.parameters import Parameters

MOST_NAMED: Final = 3
"""Functions in one note."""


def other_parameters(asked: Mapping[str, Parameters], defined: Iterable[Mapping[str, Parameters]]) -> str:
    """Return a note about functions whose parameters do not fit the starter's; "" if all do.

    Args:
        asked: the parameters of the starter's functions.
        defined: those of the submission's files.
    """
    said = [
        f"`{name}{found}` where the starter has `{asked[name]}`"
        for functions in defined
        for name, found in functions.items()
        if name in asked and (found.is_in_other_order(asked[name]) or found.cannot_take(asked[name]))
    ]
    if not said:
        return ""
    more = f", and {len(said) - MOST_NAMED} more" if len(said) > MOST_NAMED else ""
    return f"Some of your functions take other arguments than tests pass: {'; '.join(said[:MOST_NAMED])}{more}."
