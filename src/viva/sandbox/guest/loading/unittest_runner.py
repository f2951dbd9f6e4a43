"""Run an author's unittest suite test by test in the student's process: its results are untrusted values too.

The suite imports the student's files by itself, as plain Python does, so that a suite written for another runner finds
what it expects. Loading, the fixtures of modules and classes, and each test are separate operations, so that the
examiner can end each of them without losing the others.
"""

from __future__ import annotations

import importlib
import io
import os
import shutil
import sys
import types
import unittest
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional

from ..process import alarm
from ..values.raised import describe
from . import sources
from .namespaces import Missing
from .placeholder_modules import PlaceholderModules, forget_shadowing_libraries

if TYPE_CHECKING:
    from ..transport.message_types import BeginSuite, ClearSuite, DescribeSuite, LoadSuiteModule, OneSuiteTest

PRINTED = 1 << 18
"""How many characters of what one test prints are kept."""
_PATTERN = "test*.py"
_FILES = "gradescope_utils.autograder_utils.files"
_DECORATED = ("weight", "number", "visibility", "hide_errors", "tags", "leaderboard_column", "leaderboard_sort_order")
_SET_BY_A_TEST = ("__score__", "__leaderboard_value__")


class UnittestRunner:
    """The unittest suite of this box; each operation is a function of the request."""

    def __init__(self) -> None:
        self._tests: Dict[str, unittest.TestCase] = {}
        self._result: Any = _Result()
        self._fixtures: Any = unittest.TestSuite()

    def clear(self, request: ClearSuite) -> None:
        """Remove the student's files from `folder`, and wherever the author's `paths` will be written."""
        _remove(sources.path_of(request.folder))
        for path in request.paths:
            parts = path.split("/")
            for depth in range(1, len(parts)):
                parent = sources.path_of("/".join(parts[:depth]))
                if not os.path.isdir(parent):
                    _remove(parent)
            _remove(sources.path_of(path))

    def begin(self, request: BeginSuite) -> None:
        """Make the process look as if a test runner had been started in the folder of the file `path`.

        Args:
            request: modules are searched in the suite's `folder` and in the folder of `path` before all others;
                `modules` are the names of the student's own modules.
        """
        work = sources.live_in(request.path)
        os.chdir(work)
        import_paths = [sources.path_of(request.folder), work, sources.folder().rstrip(os.sep)]
        sys.path[:] = [*import_paths, *(path for path in sys.path if path not in import_paths)]
        importlib.invalidate_caches()
        os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])
        sys.argv = ["run_tests.py"]
        _look_for_files_in(work)
        forget_shadowing_libraries(request.modules)

    def describe(self, request: DescribeSuite) -> List[Dict[str, object]]:
        """Describe the tests of `modules` in the order in which they run, in a box without a submission.

        Names imported from the student's `students` modules are placeholders. A module that cannot be imported is a
        row with `raised`.
        """
        sys.meta_path.insert(0, PlaceholderModules(request.students))
        rows: List[Dict[str, object]] = []
        for module in request.modules:
            try:
                rows += [_described(key, module, test) for key, test in self._load(module).items()]
            except unittest.SkipTest:
                continue  # the author decided so, whatever the submission is
            except alarm.SoftTimeout:
                raise
            except BaseException as error:
                rows.append({"module": module, "raised": describe(error)})
        return rows

    def load(self, request: LoadSuiteModule) -> Dict[str, object]:
        """Import `module` and find its tests.

        Returns:
            `{"tests": [key], "skipped": str | None, "raised": Raised | None}`.
        """
        try:
            return {"tests": list(self._load(request.module))}
        except unittest.SkipTest as skip:
            return {"tests": [], "skipped": str(skip)}
        except alarm.SoftTimeout:
            raise
        except BaseException as error:
            return {"tests": [], "raised": describe(error)}

    def enter(self, request: OneSuiteTest) -> Dict[str, object]:
        """Run setUpModule and setUpClass if the class or module changes; return `{"failed", "events"}`."""
        test, result = self._test(request), self._result
        result.begin()
        self._fixtures._handleModuleFixture(test, result)
        self._fixtures._handleClassSetUp(test, result)
        result._previousTestClass = type(test)
        failed = result._moduleSetUpFailed or getattr(type(test), "_classSetupFailed", False)
        return {"failed": bool(failed), "events": result.events}

    def leave(self, request: OneSuiteTest) -> None:
        """Run tearDownClass, and tearDownModule if the next test is in another module."""
        result, following = self._result, self._test(request)
        before = result._previousTestClass
        self._fixtures._tearDownPreviousClass(None, result)
        if before is not None and type(following).__module__ != before.__module__:
            self._fixtures._handleModuleTearDown(result)
            result._previousTestClass = None

    def run(self, request: OneSuiteTest) -> Dict[str, object]:
        """Run one test.

        Returns:
            `{"events": [[kind, text, Raised | None]], "printed": str, "score", "leader"}`; the last two are what the
            test passed to `set_score` and `set_leaderboard_value`, or None.
        """
        test = self._test(request)
        _forget(_method(test))
        self._result.begin()
        test(self._result)
        score, leader = (getattr(_method(test), name, None) for name in _SET_BY_A_TEST)
        return {"events": self._result.events, "printed": self._result.printed, "score": score, "leader": leader}

    def _test(self, request: OneSuiteTest) -> unittest.TestCase:
        try:
            return self._tests[request.test]
        except KeyError:
            raise Missing(request.test, []) from None

    def _load(self, name: str) -> Dict[str, unittest.TestCase]:
        module = importlib.import_module(name)
        found: Dict[str, unittest.TestCase] = {}
        suite = unittest.TestLoader().loadTestsFromModule(module, pattern=_PATTERN)
        for test in _flat(suite):
            if type(test).__name__ == "_FailedTest":
                failed: Any = test
                raise failed._exception
            file = name.replace(".", "/")
            file += "/__init__.py" if hasattr(module, "__path__") else ".py"
            key = base = f"{file}::{type(test).__qualname__}::{test._testMethodName}"
            number = 1
            while key in found:
                number += 1
                key = f"{base}#{number}"
            found[key] = test
        self._tests.update(found)
        return found


class _Kept(io.StringIO):
    """The beginning of what a test prints; a test may read it with `getvalue`."""

    def write(self, text: str) -> int:
        super().write(text[: max(0, PRINTED - self.tell())])
        return len(text)


class _Result(unittest.TestResult):
    """The events of one test, in the order in which they happened."""

    def __init__(self) -> None:
        super().__init__()
        self.events: List[List[Any]] = []
        self.printed = ""
        self.buffer = True
        self._testRunEntered = True  # this runner decides when classes and modules are torn down
        self._before = (sys.stdout, sys.stderr)
        self._streams = (_Kept(), _Kept())

    def begin(self) -> None:
        """Forget the previous test."""
        self.events, self.printed, self.shouldStop = [], "", False

    def _setupStdout(self) -> None:
        self._before, self._streams = (sys.stdout, sys.stderr), (_Kept(), _Kept())
        sys.stdout, sys.stderr = self._streams

    def _restoreStdout(self) -> None:
        sys.stdout, sys.stderr = self._before
        texts = [stream.getvalue() for stream in self._streams if not stream.closed]
        self.printed = "\n".join(text.rstrip("\n") for text in texts if text)

    def addSuccess(self, test: object) -> None:
        self._add_event("success")

    def addError(self, test: object, err: object) -> None:
        self._add_event("error", "", err)

    def addFailure(self, test: object, err: object) -> None:
        self._add_event("failure", "", err)

    def addSkip(self, test: object, reason: str) -> None:
        self._add_event("skip", reason)

    def addExpectedFailure(self, test: object, err: object) -> None:
        self._add_event("expected_failure", "", err)

    def addUnexpectedSuccess(self, test: object) -> None:
        self._add_event("unexpected_success")

    def addSubTest(self, test: unittest.TestCase, subtest: Any, err: Any) -> None:
        if err is not None:
            kind = "failure" if issubclass(err[0], test.failureException) else "error"
            self._add_event(kind, subtest._subDescription(), err)

    def _add_event(self, kind: str, text: str = "", err: Optional[Any] = None) -> None:
        self.events.append([kind, str(text)[:1000], None if err is None else describe(err[1])])


def _flat(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from _flat(test)
        else:
            yield test


def _method(test: unittest.TestCase) -> object:
    return getattr(test, test._testMethodName)


def _described(key: str, module: str, test: unittest.TestCase) -> Dict[str, object]:
    method, kind = _method(test), type(test)
    decorated = {name: getattr(method, f"__{name}__", None) for name in _DECORATED}
    skipped = next((x for x in (kind, method) if getattr(x, "__unittest_skip__", False)), None)
    return {
        **decorated,
        "key": key,
        "module": module,
        "holder": f"{kind.__module__}.{kind.__qualname__}",
        "name": test.shortDescription() or str(test),
        "skipped": None if skipped is None else str(getattr(skipped, "__unittest_skip_why__", "")),
    }


def _forget(method: object) -> None:
    """Remove what an earlier test set on the function: a base class shares it with all its subclasses."""
    function = getattr(method, "__func__", method)
    while isinstance(function, types.FunctionType):
        for name in _SET_BY_A_TEST:
            vars(function).pop(name, None)
        function = getattr(function, "__wrapped__", None)


def _look_for_files_in(work: str) -> None:
    """Point `check_submitted_files` to the work directory; by default it looks where one service keeps submissions."""
    try:
        files: Any = importlib.import_module(_FILES)
    except ImportError:
        return
    files.SUBMISSION_BASE = work
    files.check_submitted_files.__defaults__ = (work,)


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)
