"""The module `viva` of a box: `viva.check()` that a student left in a notebook does nothing while it is graded."""

from __future__ import annotations

import sys
import types


def install() -> None:
    """Let `import viva` find a module whose `check` does nothing, whether or not viva is installed for the box."""
    module = types.ModuleType("viva", "viva.check() asks the public tests of a live notebook; here it does nothing.")
    vars(module)["check"] = _check
    sys.modules["viva"] = module


def _check(*_questions: object, **_options: object) -> None:
    return None
