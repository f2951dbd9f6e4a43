"""Try a test on a solution and on ways to break it, in this process."""

import time
from collections.abc import Mapping, Sequence
from types import CodeType, ModuleType
from typing import Any, Final

import hypothesis.strategies as st
import numpy as np

from viva import grading
from viva.authoring.live.in_process import InProcess
from viva.authoring.solved.trial import OTHERS, OWN, TooSlow, within
from viva.authoring.strength.strength import strength
from viva.compare.disagreement import Disagreement
from viva.grading import strategies
from viva.grading.functions import compiled
from viva.model.child_process import answer, read_request
from viva.model.errors import StudentRaised
from viva.proxies.key import Key
from viva.verify.mutants import general_mistakes
from viva.verify.mutants.make_mutants import MutantMaker
from viva.verify.mutants.mutant_trial import Verdict
from viva.verify.mutants.reachable_code import ReachableCode
from viva.verify.mutants.submission_code import Piece

LONGEST_S: Final = 20.0
"""Seconds for the test of the solution; a broken one gets a multiple of what the solution took."""
_SLOW: Final = 5
_LEAST_S: Final = 2.0
_BUDGET_S: Final = 120.0
_FILE: Final = "solution.py"


def tried(solution: str, before: str, test: str, names: list[str]) -> list[str]:
    """Return what an author reads about a test: whether the solution passes, and which mistakes it does not notice.

    Args:
        solution: the source code of the solution.
        before: what the test uses of the notebook.
        test: the body of the test.
        names: the functions and classes that it asks about.
    """
    key = ModuleType("viva_solution")
    exec(compile(solution, _FILE, "exec"), vars(key))  # noqa: S102  # the author's own code
    code = compiled(before, "<notebook>"), compiled(test, "<test>")
    began = time.monotonic()
    if failed := _failed(code, vars(key), key, LONGEST_S):
        return [f"Your solution does not pass: {failed}"]
    limit_s = max(_LEAST_S, _SLOW * (time.monotonic() - began))
    maker = MutantMaker("", ReachableCode([Piece(_FILE, solution)]), names, [_FILE], set())
    verdicts, end = [], time.monotonic() + _BUDGET_S
    for mutant in maker.mutants(with_library=general_mistakes.installed()):
        if time.monotonic() > end:
            break
        broken: dict[str, Any] = {"__name__": key.__name__}
        try:
            exec(compile(mutant.change.applied(solution), _FILE, "exec"), broken)  # noqa: S102
            caught = bool(_failed(code, broken, key, limit_s))
        except Exception:
            caught = True
        verdicts.append(Verdict(mutant, "killed" if caught else "survived"))
    lines = ["Your solution passes.", *strength(verdicts, places=False)]
    return lines if time.monotonic() <= end else [*lines, f"The rest was not tried within {_BUDGET_S:.0f} s."]


def _failed(code: Sequence[CodeType], student: Mapping[str, Any], key: ModuleType, limit_s: float) -> str:
    """Return why a test fails; an empty text if it passes."""
    names = {name: getattr(grading, name) for name in grading.__all__}
    names |= {name: getattr(strategies, name) for name in OWN} | {name: getattr(st, name) for name in OTHERS}
    names |= {"student": InProcess(student), "key": Key(key), "rng": np.random.default_rng(0)}
    try:
        with within(limit_s):
            for part in code:
                exec(part, names)  # noqa: S102  # the author's own code
    except TooSlow:
        return f"it did not end within {limit_s:.0f} s."
    except (Disagreement, StudentRaised) as error:
        return str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def main() -> None:
    """Answer one request."""
    request = read_request()
    answer(request, tried(*(request[name] for name in ("solution", "before", "test", "names"))))


if __name__ == "__main__":
    main()
