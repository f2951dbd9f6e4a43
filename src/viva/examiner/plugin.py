"""The pytest plugin: options, markers and the fixtures `student`, `submission`, `inside`, `key`, `rng`.

It serves two ways of running: the examiner (`serving.py`), whose run loop grades many submissions with the tests
collected once, and plain `pytest graders/<a> --submission PATH` for an author at work (`-k`, `--pdb`, `-x`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:  # imported only when a grader runs: every pytest process of the environment loads this plugin
    import numpy as np

    from viva.examiner.fixtures.student_names import Names
    from viva.examiner.fixtures.submission_fixture import SubmissionView
    from viva.examiner.grader import Context
    from viva.examiner.recorded_key.replayed_key import ReplayedKey
    from viva.proxies.key import Key

MARKERS = (
    "depends(*tests): names of tests that must pass first; otherwise this one is skipped and names the blocker",
    "gpu(memory_mib=0, nondeterministic=''): needs a GPU with at least so much memory; deferred where there is none",
    "training: trains a model; takes long, and is deferred where tests that train are left out",
    "timeout(seconds): seconds for this test and for each of its calls, instead of the assignment's limits",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--submission`, `--course` and `--tier` for plain pytest runs."""
    group = parser.getgroup("viva", "grading a submission with viva")
    group.addoption(
        "--submission", metavar="PATH", help="the submission to ask: a module, a notebook, a folder or an archive"
    )
    group.addoption("--course", metavar="DIR", help="the course's folder (default: where grader.yaml is found)")
    group.addoption(
        "--tier", metavar="TIER", help="the isolation to ask for: T0, T1, T2, T3 (default: the best there is)"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers; with `--submission`, run against that submission."""
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    if config.getoption("--submission"):
        from viva.examiner.plain_run import PlainRun

        config.pluginmanager.register(PlainRun(config), "viva-plain-run")


def _context(request: pytest.FixtureRequest) -> Context:
    from viva.examiner.grader import CONTEXT

    try:
        return request.config.stash[CONTEXT]
    except KeyError:
        pytest.fail(
            "This test asks a submission: run it with `viva grade`, or with `pytest … --submission PATH`.",
            pytrace=False,
        )


@pytest.fixture(scope="session")
def student(request: pytest.FixtureRequest) -> Names:
    """Return the names that the submission defines, whichever file or cell defines them."""
    from viva.examiner.fixtures.student_names import Names

    return Names(_context(request).session, "student")


@pytest.fixture(scope="session")
def inside(request: pytest.FixtureRequest) -> Names:
    """Return the author's helpers in the box: the names of `graders/<a>/inside.py` or of the package `inside/`."""
    from viva.examiner.fixtures.student_names import Names

    return Names(_context(request).session, "inside")


@pytest.fixture(scope="session")
def submission(request: pytest.FixtureRequest) -> SubmissionView:
    """Return the submission as a whole: answers, written answers, files."""
    from viva.examiner.fixtures.submission_fixture import SubmissionView

    context = _context(request)
    return SubmissionView(context.submission, context.session, context.tested, context.forms)


@pytest.fixture(scope="session")
def key(request: pytest.FixtureRequest) -> Key | ReplayedKey:
    """Return the answer key, with the same interface as the student's names."""
    return _context(request).key


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Return the random generator of this test: the same for the whole class, and unknown to it."""
    context = _context(request)
    return context.seeds.rng(context.test_id)


@pytest.fixture
def set_score(request: pytest.FixtureRequest) -> Callable[[object], None]:
    """Return a function that sets the points of a test with partial credit, clamped to what the test is worth."""
    from viva.examiner.points import exact_points

    context = _context(request)

    def give(points: object) -> None:
        context.set_points = exact_points(points, context.test_id)

    return give


@pytest.fixture
def set_leaderboard_value(request: pytest.FixtureRequest) -> Callable[[object], None]:
    """Return a function that sets the test's leaderboard value: a number, or in a visible test a short text."""
    from viva.examiner.points import leader_value

    context = _context(request)

    def give(value: object) -> None:
        context.leader = leader_value(value, context.test_id, hidden=context.session.test.hidden)

    return give
