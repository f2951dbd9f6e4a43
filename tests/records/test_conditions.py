"""Which scores may stand for a run, by the conditions under which they were made."""

from dataclasses import replace

import pytest

from tests.support import samples
from viva.model import Isolation, Score, Status
from viva.plugins.records.conditions import Conditions, Standing, compare_conditions
from viva.sandbox.guest.transport.optional_layers import OPTIONAL_LAYERS

CGROUP, LANDLOCK = OPTIONAL_LAYERS["cgroup"], OPTIONAL_LAYERS["Landlock"]


def isolation(tier: str, *missing: str) -> Isolation:
    return Isolation(tier, missing=missing)


@pytest.mark.parametrize(
    ("had", "asked", "holds"),
    [
        (isolation("T3"), isolation("T3"), True),
        (isolation("T3"), isolation("T1"), True),
        (isolation("T0"), isolation("T1"), False),
        (isolation("T2", CGROUP), isolation("T2"), False),
        (isolation("T2", CGROUP), isolation("T2", CGROUP), True),
        (isolation("T2", CGROUP, LANDLOCK), isolation("T2", CGROUP), False),
        (isolation("T3", CGROUP), isolation("T2"), False),
        (isolation("T1", "namespaces"), isolation("T1"), True),
        (isolation("none"), isolation("T3"), True),
        (isolation("T3"), isolation("none"), False),
        (isolation("none"), isolation("none"), True),
    ],
)
def test_isolation_holds_what_is_asked(had: Isolation, asked: Isolation, holds: bool) -> None:
    assert had.holds(asked) is holds
    assert had.weaker(asked) == (asked if holds else had)


def deferred(*needs: str) -> Score:
    score = samples.score()
    first = replace(score.entries[0], status=Status.DEFERRED, needs=needs)
    return replace(score, entries=(first, *score.entries[1:]))


def faulty() -> Score:
    score = samples.score()
    return replace(score, entries=(replace(score.entries[0], status=Status.GRADER_ERROR), *score.entries[1:]))


PLAIN = samples.made(training=False)


@pytest.mark.parametrize(
    ("score", "made", "asked", "found"),
    [
        (samples.score(), PLAIN, PLAIN, Standing.SAME),
        (samples.score(), PLAIN, replace(PLAIN, isolation=isolation("T2")), Standing.SAME),
        (samples.score(), replace(PLAIN, isolation=isolation("T0")), PLAIN, Standing.WEAKER),
        (samples.score(), replace(PLAIN, tests="other"), PLAIN, Standing.OTHER_TESTS),
        (samples.score(), replace(PLAIN, engine="0"), PLAIN, Standing.OTHER_TESTS),
        (samples.score(), replace(PLAIN, seed="other"), PLAIN, Standing.OTHER_SECRET),
        (samples.score(), replace(PLAIN, tests="other", isolation=isolation("T0")), PLAIN, Standing.WEAKER),
        (samples.score(), PLAIN, replace(PLAIN, training=True, gpu=True), Standing.SAME),
        (samples.score(), replace(PLAIN, training=True, gpu=True), PLAIN, Standing.SAME),
        (deferred("training"), PLAIN, PLAIN, Standing.SAME),
        (deferred("training"), PLAIN, replace(PLAIN, training=True), Standing.LESS),
        (deferred("gpu"), PLAIN, replace(PLAIN, training=True), Standing.SAME),
        (deferred("gpu"), replace(PLAIN, gpu=True), replace(PLAIN, gpu=True), Standing.LESS),
        (deferred("training", "gpu"), PLAIN, replace(PLAIN, training=True), Standing.SAME),
        (deferred("training", "gpu"), PLAIN, replace(PLAIN, training=True, gpu=True), Standing.LESS),
        (samples.score(), replace(PLAIN, visible_only=True), PLAIN, Standing.LESS),
        (samples.score(), PLAIN, replace(PLAIN, visible_only=True), Standing.SAME),
        (samples.score(), replace(PLAIN, only=("1",)), PLAIN, Standing.LESS),
        (samples.score(), replace(PLAIN, whole=False), PLAIN, Standing.LESS),
        (faulty(), PLAIN, PLAIN, Standing.LESS),
    ],
)
def test_standing_follows_from_the_conditions(
    score: Score, made: Conditions, asked: Conditions, found: Standing
) -> None:
    assert compare_conditions(score, made, asked) is found


def test_conditions_as_text() -> None:
    made = replace(PLAIN, only=("1", "2"), isolation=isolation("T2", CGROUP))
    assert Conditions.from_json(made.to_json()) == made
    assert made.identity(1) == made.identity(1) != made.identity(2)
    assert len({c.identity(1) for c in (made, PLAIN, replace(PLAIN, gpu=True), replace(PLAIN, engine="0"))}) == 4
