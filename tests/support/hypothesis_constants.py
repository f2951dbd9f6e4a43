"""Hypothesis also tries constants that it finds in the source of every imported module.

Which modules are imported differs from one process of pytest to the next, and with them what a test draws. Finding them
takes seconds in each process. Hypothesis has no setting for it.
"""

from typing import Final

from hypothesis.internal.conjecture import providers

FINDER: Final = providers._get_local_constants


def ignore_source_constants() -> None:
    """Let what a test draws depend on its strategies alone."""
    providers._get_local_constants = type(providers._local_constants)
