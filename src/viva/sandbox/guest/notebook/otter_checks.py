"""Tests that an otter notebook asks for by `grader.check("q1")`: run in the namespace of the cell that asks.

Stands in for otter's own package, which need not be there: a test file is a list of doctests, or a module of functions
decorated with `test_case` whose arguments are names of the student's. Each case passes or fails by itself.
"""

from __future__ import annotations

import doctest
import inspect
import io
import sys
import types
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, Callable, Dict, List, Optional

from ..loading import sources
from ..process import alarm
from ..values.raised import describe

Case = Dict[str, Any]

_WORDS = 4000


class test_case:  # noqa: N801  # the name that test files import
    """The decorator of one case; what it says of points and visibility was read elsewhere."""

    def __init__(self, name: Any = None, *_args: Any, **_kwargs: Any) -> None:
        self.name = name
        self.function: Callable[..., Any] = lambda: None

    def __call__(self, function: Callable[..., Any]) -> "test_case":
        self.function = function
        return self

    def run(self, namespace: Dict[str, Any]) -> None:
        """Call it with the student's values of its arguments' names, None where there is none; `env` is all of them."""
        names = inspect.signature(self.function).parameters
        self.function(**{name: namespace if name == "env" else namespace.get(name) for name in names})


class Results:
    """What `grader.check` returns: shown beside the cell, as at home."""

    def __init__(self, name: str, cases: List[Case]) -> None:
        self.name, self.cases = name, cases

    def __repr__(self) -> str:
        if all(case["passed"] for case in self.cases):
            return f"{self.name} results: All test cases passed!"
        return f"{self.name} results:\n" + "\n".join(
            f"    {number} {'passed' if case['passed'] else 'failed'}" for number, case in enumerate(self.cases, 1)
        )


class OtterChecks:
    """The tests of one notebook, and what they came to.

    Args:
        tests: by the name under which a notebook asks: `{"name": str, "doctests": [str]}`, or `{"name": str, "source":
            str}` for a module of cases.
    """

    def __init__(self, tests: Dict[str, Dict[str, Any]]) -> None:
        self._tests = tests
        self._results: Dict[str, List[Case]] = {}

    def install(self) -> None:
        """Let the student's cells import `otter`."""
        package, files = types.ModuleType("otter"), types.ModuleType("otter.test_files")
        package.__path__ = []
        vars(files).update(test_case=test_case)
        vars(package).update(test_files=files, Notebook=_notebook(self))
        sys.modules.update({"otter": package, "otter.test_files": files})

    def check(self, name: str, namespace: Dict[str, Any]) -> List[Case]:
        """Run a test now; what it came to earlier is forgotten.

        Raises:
            FileNotFoundError: there is no test of that name.
        """
        if name not in self._tests:
            raise FileNotFoundError(f"Test {name} does not exist")
        test = self._tests[name]
        self._results[name] = (
            [_doctest(f"{test['name']} {at}", text, namespace) for at, text in enumerate(test["doctests"])]
            if "doctests" in test
            else _functions(str(test["source"]), f"tests/{name}.py", namespace)
        )
        return self._results[name]

    def outcome(self, name: str, namespace: Dict[str, Any], *, again: bool) -> List[Case]:
        """What the cases of a test came to at last; the test is run where nobody asked for it, or `again`."""
        return self.check(name, namespace) if again or name not in self._results else self._results[name]


def _notebook(checks: OtterChecks) -> type:
    """The class that a notebook makes its `grader` of."""

    class Notebook:
        def __init__(self, *_args: Any, **_kwargs: Any) -> None:
            pass

        def check(self, question: str, global_env: Optional[Dict[str, Any]] = None) -> Results:
            namespace = sys._getframe(1).f_globals if global_env is None else global_env
            return Results(question, checks.check(question, namespace))

        def _nothing(self, *_args: Any, **_kwargs: Any) -> None:
            pass

        check_all = export = to_pdf = add_plugin_files = run_plugin = _nothing  # left out where it grades

    return Notebook


def _doctest(name: str, text: str, namespace: Dict[str, Any]) -> Case:
    examples = [part for part in doctest.DocTestParser().parse(text, name) if isinstance(part, doctest.Example)]
    test = doctest.DocTest(examples, namespace, name, None, None, text)
    runner = doctest.DocTestRunner(verbose=False)
    told = io.StringIO()
    with redirect_stdout(told), redirect_stderr(told):
        runner.run(test, clear_globs=False)
    words = told.getvalue()[:_WORDS]
    return {"passed": runner.failures == 0, "words": words, "raised": None}


def _functions(source: str, file: str, namespace: Dict[str, Any]) -> List[Case]:
    own: Dict[str, Any] = {"__name__": "otter_test"}
    exec(compile(source, sources.path_of(file), "exec"), own)
    return [_function(case, namespace) for case in own.values() if isinstance(case, test_case)]


def _function(case: test_case, namespace: Dict[str, Any]) -> Case:
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            case.run(namespace)
    except alarm.SoftTimeout:
        raise
    except BaseException as error:
        return {"passed": False, "words": "", "raised": describe(error)}
    return {"passed": True, "words": "", "raised": None}
