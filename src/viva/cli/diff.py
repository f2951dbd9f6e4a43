"""`viva diff A B`: show what changed between two results, or between two folders of results."""

from fractions import Fraction
from pathlib import Path

import click

from viva.formats.decimal_points import show, signed, total_in_words
from viva.formats.difference import Difference, by_change, difference, summary, write_csv
from viva.formats.results_json import Results, TestResult, load_results, results_below, totals
from viva.model.errors import UsageError


@click.command("diff")
@click.argument("before", type=click.Path(path_type=Path), metavar="A")
@click.argument("after", type=click.Path(path_type=Path), metavar="B")
@click.option("-v", "--verbose", is_flag=True, help="Show the messages that changed as well.")
@click.option(
    "--csv", "table", type=click.Path(path_type=Path), metavar="FILE",
    help="Write a table too: a row for each test of each result that changed, and one for each total.",
)  # fmt: skip
def command(before: Path, after: Path, verbose: bool, table: Path | None) -> int:
    """Compare result A with result B: two files, or two folders that `viva grade -o` wrote.

    For folders, the largest changes come first, and the changes over the class come last.

    Exit status: 0 no score, status or test differs, 1 something differs (one line for each difference).
    """
    pairs = by_change(difference(name, *pair) for name, pair in _pairs(before, after).items())
    differing: list[Difference] = []
    for each in pairs:
        lines = _lines(each, verbose=verbose)
        for line in [each.name, *lines] if lines else []:
            click.echo(line)
        if lines:
            differing.append(each)
    for line in summary(differing) if after.is_dir() else []:
        click.echo(line)
    click.echo(f"{len(differing)} of {len(pairs)} results differ.")
    if table is not None:
        write_csv(table, differing)
    return 1 if differing else 0


def _pairs(before: Path, after: Path) -> dict[str, tuple[Results | None, Results | None]]:
    """Return the results that belong together, by path below the two folders; None where one side has none.

    Raises:
        UsageError: a path does not exist, holds no result, or is a file where the other is a folder.
    """
    if before.is_dir() != after.is_dir() and before.exists() and after.exists():
        raise UsageError(f"{before} and {after}: one is a folder and the other a file; give two of one kind.")
    if not before.is_dir():
        return {str(after): (load_results(before), load_results(after))}
    old, new = results_below(before), results_below(after)
    names = sorted({*old, *new})
    return {
        str(name): (
            load_results(before / name) if name in old else None,
            load_results(after / name) if name in new else None,
        )
        for name in map(Path, names)
    }


def _lines(each: Difference, *, verbose: bool) -> list[str]:
    """Return the differences between two results of one submission, the total first; empty if they agree."""
    old, new = each.before, each.after
    if old is None or new is None:
        only = "B" if old is None else "A"
        return [f"  only in {only}: {_total(new or old)}"]
    lines = _tests(each, verbose=verbose)
    if _total(old) != _total(new):
        lines.insert(0, f"  {_total(old)} → {_total(new)}{_change(each.points)}")
    if lines:
        lines += _causes(old, new)
    return lines


def _tests(each: Difference, *, verbose: bool) -> list[str]:
    lines = []
    changes = {change.test_id: change for change in each.tests}
    olds, news = ({t.extra_data.test_id: t for t in r.tests} if r else {} for r in (each.before, each.after))
    for test_id in dict.fromkeys([*olds, *news]):
        one, two = olds.get(test_id), news.get(test_id)
        if test_id in changes:
            states = [_state(t) if t is not None else "not there" for t in (one, two)]
            lines.append(f"  {test_id}: {states[0]} → {states[1]}{_change(changes[test_id].points)}")
        if verbose and one is not None and two is not None and one.output != two.output:
            lines += [f"    A: {_indented(one.output)}", f"    B: {_indented(two.output)}"]
    return lines


def _change(points: Fraction) -> str:
    return f" ({signed(points)})" if points else ""


def _causes(old: Results, new: Results) -> list[str]:
    """Return what may explain a difference: other bytes, or other versions of what the score was made with."""
    lines = []
    if old.extra_data.content_hash != new.extra_data.content_hash:
        lines.append("  the submission itself is not the same")
    made = [r.extra_data.signature for r in (old, new)]
    for key in dict.fromkeys([*made[0], *made[1]]):
        one, two = (m.get(key, "none") for m in made)
        if one != two:
            lines.append(f"  made with another {key}: {one} → {two}")
    return lines


def _total(results: Results | None) -> str:
    if results is None:
        return "nothing"
    exact = results.extra_data
    points = total_in_words(totals(results.tests))
    return points if exact.complete else f"{points}, unfinished"


def _state(test: TestResult) -> str:
    exact = test.extra_data
    return f"{exact.status.replace('_', ' ')} {show(Fraction(exact.earned))} / {show(Fraction(exact.points))}"


def _indented(text: str) -> str:
    return text.replace("\n", "\n       ")
