"""Show a proposed regrade: whose score changes, by how much, in which tests, and what was decided by hand."""

from collections.abc import Iterable
from fractions import Fraction

import click

from viva.formats import escaping
from viva.formats.decimal_points import show as points
from viva.plugins.records.overrides import ByHand, overridden
from viva.plugins.records.proposals import Change, TestChange


def show(changes: Iterable[Change], by_hand: ByHand, *, details: bool) -> None:
    """Print the changes, the largest first, and a line that sums them up.

    Args:
        changes: what is proposed; of each only its lines are kept.
        by_hand: what people decided, which takes precedence over a regrade.
        details: also print why the result of each test changes.
    """
    shown = [
        (gain(change, by_hand), change.kept.scored.attempt.name, _lines(change, by_hand, details=details))
        for change in changes
    ]
    if not shown:
        click.echo("nothing would change")
        return
    for _, _, lines in sorted(shown, key=lambda one: (-abs(one[0]), one[1])):
        click.echo(lines)
    gains = [gained for gained, _, _ in shown]
    up = [gained for gained in gains if gained > 0]
    down = [gained for gained in gains if gained < 0]
    parts = [_summed(up, "gain"), _summed(down, "lose")]
    same = len(gains) - len(up) - len(down)
    parts.append(f"{same} keep their total" if same else "")
    click.echo("; ".join(part for part in parts if part))


def gain(change: Change, by_hand: ByHand) -> Fraction:
    """Return the points gained, with written answers, whose question may now be worth less; negative for a loss."""
    return by_hand.marked(change.score).earned - by_hand.marked(change.kept.scored.score).earned


def _lines(change: Change, by_hand: ByHand, *, details: bool) -> str:
    name = escaping.line(change.kept.scored.attempt.name, characters=60)
    before, after = by_hand.marked(change.kept.scored.score), by_hand.marked(change.score)
    gained = after.earned - before.earned
    sign = "+" if gained > 0 else ""
    tests = ", ".join(_brief(test) for test in change.tests)
    lines = [f"{name}  {points(before.earned)} → {points(after.earned)} ({sign}{points(gained)})  {tests}"]
    if held := by_hand.held(change.kept.scored.attempt.name):
        shown = ", ".join(f"{test_id.split('::')[-1]} {points(o.earned or Fraction(0))}" for test_id, o in held.items())
        total = points(overridden(after, held).earned)
        lines.append(f"    set by hand and kept: {escaping.line(shown)}; with that {total}")
    for test in change.tests if details else ():
        lines.append(escaping.terminal(f"    {test.test_id}: {test.message}".replace("\n", "\n      ")))
    return "\n".join(lines)


def _brief(test: TestChange) -> str:
    name = escaping.line(test.test_id.split("::")[-1], characters=60)
    if test.worth[0] == test.worth[1]:
        return f"{name} {_value(test.before)} → {_value(test.after)}"
    before, after = (
        f"{_value(won)} of {_value(most)}" for won, most in zip((test.before, test.after), test.worth, strict=True)
    )
    return f"{name} {before} → {after}"


def _value(value: Fraction | None) -> str:
    return "–" if value is None else points(value)


def _summed(gains: list[Fraction], verb: str) -> str:
    if not gains:
        return ""
    mean = points(abs(sum(gains, Fraction(0))) / len(gains))
    return f"{len(gains)} {verb}, {mean} points on average"
