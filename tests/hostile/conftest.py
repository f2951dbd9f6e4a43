"""Hostile programs meet every tier that this machine can offer, by itself or disguised as another host."""

from collections.abc import Iterator

import pytest

from tests.support.hostile_hosts import offered
from tests.support.hostile_programs import ALL, Program
from tests.support.hostile_trials import REQUIRED, Trials
from viva.model import Tier

WANTED: pytest.StashKey[dict[Tier, list[Program]]] = pytest.StashKey()
AFTER_MARKS = ("forge", "leak", "persist", "protocol", "read")
"""Families that want points, or what is secret."""
SLOW = ("archive", "compare", "decoder", "flood", "hang")
"""Families that wait for limits to be reached, or give the examiner much to read."""
WAITING = ("leak/by_time_and_ending", "protocol/trickle", "forge/half_open_at_load", "notebook/nested_without_end")
"""Programs of other families that do so."""
TRIALS: pytest.StashKey[Trials] = pytest.StashKey()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests that take `tier` and `program` meet each program in each tier; those that take `tier` alone, each tier."""
    if "tier" not in metafunc.fixturenames:
        return
    tiers = sorted({*offered(), *REQUIRED}, reverse=True)
    if "program" not in metafunc.fixturenames:
        metafunc.parametrize("tier", tiers, ids=str)
        return
    pairs = [
        pytest.param(tier, program, id=f"{tier}-{program.name}", marks=_marks(tier, program, quick=tiers[0]))
        for program in ALL
        for tier in tiers
        if tier >= program.least_tier
    ]
    metafunc.parametrize(("tier", "program"), pairs)


def _marks(tier: Tier, program: Program, quick: Tier) -> list[pytest.MarkDecorator]:
    """Say when a program meets a tier.

    `make test` runs the quick programs of the families that are after marks, in the best tier; `make long` all others
    there, and the quick ones in the other tiers; `make nightly` the rest.
    """
    slow = program.path.parent.name in SLOW or program.name in WAITING
    if tier != quick:
        return [pytest.mark.nightly if slow else pytest.mark.long]
    return [pytest.mark.long] if slow or program.path.parent.name not in AFTER_MARKS else []


def pytest_collection_finish(session: pytest.Session) -> None:
    """Note which programs will be asked for in which tier."""
    wanted: dict[Tier, list[Program]] = {}
    for item in session.items:
        if not isinstance(item, pytest.Function) or not hasattr(item, "callspec"):
            continue
        tier, program = item.callspec.params.get("tier"), item.callspec.params.get("program")
        if isinstance(tier, Tier) and "trials" in item.fixturenames:
            wanted.setdefault(tier, [])
            if isinstance(program, Program):
                wanted[tier].append(program)
    session.config.stash[WANTED] = wanted


@pytest.fixture(scope="session")
def trials(request: pytest.FixtureRequest) -> Iterator[Trials]:
    """All the trials that this run needs, under way."""
    started = request.config.stash[TRIALS] = Trials(request.config.stash[WANTED])
    yield started
    started.close()
    assert not any(started.left_behind.values()), started.left_behind


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say which tiers ran."""
    trials = config.stash.get(TRIALS, None)
    if trials is not None:
        lost = trials.unavailable
        told = [f"{tier} could not run: {lost[tier]}" if tier in lost else f"{tier} ran" for tier in trials.courses]
        terminalreporter.write_line(f"hostile programs: {'; '.join(told)}")
