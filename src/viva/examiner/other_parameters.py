"""Say which functions take other arguments than the starter asks for: the reason of errors deep inside a library."""

from collections.abc import Iterable, Mapping
from typing import Final

from viva.submissions.code_names import Parameters

MOST_NAMED: Final = 3
"""Functions in one note."""


def other_parameters(asked: Mapping[str, Parameters], defined: Iterable[Mapping[str, Parameters]], errors: str) -> str:
    """Return a note about functions that raised and whose parameters do not fit the starter's; "" if there are none.

    Args:
        asked: the parameters of the starter's functions.
        defined: those of the submission's files.
        errors: what the student reads about tests in which the submission's own code raised.
    """
    said = [
        f"`{name}{found}` where the starter has `{asked[name]}`"
        for functions in defined
        for name, found in functions.items()
        if name in asked
        and name.partition(".")[0] in errors
        and (found.is_in_other_order(asked[name]) or found.cannot_take(asked[name]))
    ]
    if not said:
        return ""
    more = f", and {len(said) - MOST_NAMED} more" if len(said) > MOST_NAMED else ""
    return f"Some of your functions take other arguments than tests pass: {'; '.join(said[:MOST_NAMED])}{more}."
