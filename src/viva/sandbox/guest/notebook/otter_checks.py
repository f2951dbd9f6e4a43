"""Tests that an otter notebook runs by `grader.check("q1")`, in the namespace of the cell that calls it.

This replaces otter's own package, which need not be installed. A test file is a list of doctests, or a module of
functions decorated with `test_case` whose arguments are the student's names. Each case passes or fails on its own.
"""

from __future__ import annotations

import doctest
import inspect
import io
import sys
import types
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any, Callable, Container, Dict, List, Mapping, Optional

from ..loading import sources
from ..process import alarm
from ..values.raised import describe

if TYPE_CHECKING:
    from ..transport.message_types import OtterCase

_MOST_CHARACTERS = 4000


class test_case:  # noqa: N801  # the name that test files import
    """The decorator of one case; its points and visibility are read elsewhere."""

    def __init__(self, name: object = None, *_args: object, **_kwargs: object) -> None:
        self.name = name
        self.function: Callable[..., object] = lambda: None

    def __call__(self, function: Callable[..., object]) -> "test_case":
        """Store the function, and return this case in its place."""
        self.function = function
        return self

    def run(self, namespace: Dict[str, object]) -> None:
        """Call the case with the student's values of its argument names, or None; `env` gets all of them."""
        names = inspect.signature(self.function).parameters
        self.function(**{name: namespace if name == "env" else namespace.get(name) for name in names})


class Results:
    """What `grader.check` returns; the notebook shows it as otter would."""

    def __init__(self, name: str, cases: List[OtterCase]) -> None:
        self.name, self.cases = name, cases

    def __repr__(self) -> str:
        if all(case["passed"] for case in self.cases):
            return f"{self.name} results: All test cases passed!"
        return f"{self.name} results:\n" + "\n".join(
            f"    {number} {'passed' if case['passed'] else 'failed'}" for number, case in enumerate(self.cases, 1)
        )


class OtterChecks:
    """The tests of one notebook, and their results.

    Args:
        tests: by the name that the notebook passes to `check`: `{"name": str, "doctests": [str]}`, or `{"name": str,
            "source": str}` for a module of cases.
        snapshots: the names of those of which a snapshot is taken whenever the notebook runs them.
        take: takes a snapshot of that name.
    """

    def __init__(
        self, tests: Mapping[str, Mapping[str, Any]], snapshots: Container[str], take: Callable[[str], None]
    ) -> None:
        self._tests, self._snapshots, self._take = dict(tests), snapshots, take
        self._results: Dict[str, List[OtterCase]] = {}
        self._namespaces: Dict[str, Dict[str, object]] = {}
        """Where the notebook ran each test last."""

    def install(self) -> None:
        """Make `otter` importable for the student's cells."""
        package, files = types.ModuleType("otter"), types.ModuleType("otter.test_files")
        package.__path__ = []
        vars(files).update(test_case=test_case)
        vars(package).update(test_files=files, Notebook=_notebook(self))
        sys.modules.update({"otter": package, "otter.test_files": files})

    def check(self, name: str, namespace: Dict[str, object]) -> List[OtterCase]:
        """Run a test now, and replace its earlier result.

        Raises:
            FileNotFoundError: There is no test of that name.
        """
        if name not in self._tests:
            raise FileNotFoundError(f"Test {name} does not exist")
        self._namespaces[name] = namespace
        if name in self._snapshots:
            self._take(name)
        return self._run(name, namespace)

    def run_whole(self, name: str, test: Mapping[str, Any], namespace: Dict[str, object]) -> List[OtterCase]:
        """Run a test with all its cases where the notebook ran it last, or else in `namespace`."""
        self._tests[name] = test
        return self._run(name, self._namespaces.get(name, namespace))

    def _run(self, name: str, namespace: Dict[str, object]) -> List[OtterCase]:
        test = self._tests[name]
        self._results[name] = (
            [_doctest(f"{test['name']} {at}", text, namespace) for at, text in enumerate(test["doctests"])]
            if "doctests" in test
            else _functions(str(test["source"]), f"tests/{name}.py", namespace)
        )
        return self._results[name]

    def outcome(self, name: str, namespace: Dict[str, object], *, again: bool) -> List[OtterCase]:
        """Return the last result of a test's cases; run the test if it has no result yet, or if `again` is set."""
        if again:
            return self.check(name, namespace)
        return self._results[name] if name in self._results else self._run(name, namespace)


def _notebook(checks: OtterChecks) -> type:
    """Make the class of a notebook's `grader`."""

    class Notebook:
        def __init__(self, *_args: object, **_kwargs: object) -> None:
            pass

        def check(self, question: str, global_env: Optional[Dict[str, object]] = None) -> Results:
            namespace = sys._getframe(1).f_globals if global_env is None else global_env
            return Results(question, checks.check(question, namespace))

        def _nothing(self, *_args: object, **_kwargs: object) -> None:
            pass

        check_all = export = to_pdf = add_plugin_files = run_plugin = _nothing  # otter skips these while it grades

    return Notebook


def _doctest(name: str, text: str, namespace: Dict[str, object]) -> OtterCase:
    examples = [part for part in doctest.DocTestParser().parse(text, name) if isinstance(part, doctest.Example)]
    test = doctest.DocTest(examples, namespace, name, None, None, text)
    runner = doctest.DocTestRunner(verbose=False)
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        runner.run(test, clear_globs=False)
    words = printed.getvalue()[:_MOST_CHARACTERS]
    return {"passed": runner.failures == 0, "words": words, "raised": None}


def _functions(source: str, file: str, namespace: Dict[str, object]) -> List[OtterCase]:
    own: Dict[str, object] = {"__name__": "otter_test"}
    exec(compile(source, sources.path_of(file), "exec"), own)
    return [_function(case, namespace) for case in own.values() if isinstance(case, test_case)]


def _function(case: test_case, namespace: Dict[str, object]) -> OtterCase:
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            case.run(namespace)
    except alarm.SoftTimeout:
        raise
    except BaseException as error:
        return {"passed": False, "words": "", "raised": describe(error)}
    return {"passed": True, "words": "", "raised": None}
