"""`viva merge BASE OTHER…`: join the results of several passes, such as one on a GPU with an earlier one without."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import click

from viva.formats.atomic_write import write_atomically
from viva.formats.decimal_points import show
from viva.formats.escaping import line, terminal
from viva.formats.folders import results_below
from viva.model import Score
from viva.model.errors import UsageError
from viva.model.score import Curve
from viva.pipeline.curve_files import write_class_curves, write_curves

if TYPE_CHECKING:  # imported only when there is something to merge
    from viva.formats.results_json import Results


@click.command("merge")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="BASE OTHER…")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE|DIR",
    help="Where to write (default: BASE, which then holds what was in it and what the others have decided).",
)  # fmt: skip
def command(paths: tuple[Path, ...], output: Path | None) -> int:
    """Join results of the same submissions: files, or folders that `viva grade -o` wrote.

    A test that was left out takes the mark of the pass that has one; where two passes have marked a test, the earlier
    one's mark is kept, and a difference is said. Merging again changes nothing.

    Exit status: 0 merged, 1 something does not belong together (said in a sentence, and left as it was).
    """
    if len(paths) < 2:
        raise UsageError("merge joins two results or more; give BASE and what is to be joined with it.")
    if len({path.is_dir() for path in paths if path.exists()}) > 1:
        raise UsageError("Some of these are folders and others files; give results of one kind.")
    base = output or paths[0]
    if not any(path.is_dir() for path in paths):
        outcome = _Result(list(paths)).write(base)
        click.echo(_describe(base, outcome))
        _draw(base, outcome.results)
        return 0
    below = {path: set(results_below(path)) for path in paths}
    merged, broken, drawn = 0, 0, list[Score]()
    for name in sorted(set().union(*below.values())):
        result = _Result([path / name for path in paths if name in below[path]])
        try:
            outcome = result.write(base / name)
        except UsageError as error:
            broken += 1
            click.echo(f"viva: {line(str(error), characters=1000)}", err=True)
            result.rescue(base / name)
            continue
        merged += 1
        click.echo(_describe(base / name, outcome))
        drawn += _draw(base / name, outcome.results)
    if len(drawn) > 1:
        write_class_curves(base, drawn)
    results = "1 result" if merged == 1 else f"{merged} results"
    click.echo(f"{results} merged" + (f", {broken} could not be." if broken else "."))
    return 1 if broken else 0


@dataclass(slots=True)
class _Outcome:
    """What merging one submission's results did."""

    results: "Results"
    taken: int = 0
    differing: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Result:
    """The passes over one submission, with the first one's file first."""

    paths: Sequence[Path]

    def write(self, target: Path) -> _Outcome:
        """Merge all passes into `target`.

        Raises:
            UsageError: they do not belong together, or `target` holds something that would be lost.
        """
        from viva.formats.merge import merge
        from viva.formats.results_json import load_results, to_bytes

        outcome = _Outcome(load_results(self.paths[0]))

        def join(name: str, path: Path) -> str:
            merged = merge(outcome.results, load_results(path), (name, str(path)))
            outcome.results = merged.results
            outcome.taken += len(merged.taken)
            outcome.differing += merged.differing
            return name

        reduce(join, self.paths[1:], str(self.paths[0]))
        data = to_bytes(outcome.results)
        if _holds(target) != data:
            self._check(target, outcome.results)
            write_atomically(target, data)
        return outcome

    def rescue(self, target: Path) -> None:
        """Copy the first pass to a new folder, unchanged, when the passes do not belong together."""
        from viva.formats.results_json import load_results

        if not target.exists():
            try:
                load_results(self.paths[0])
            except UsageError:
                return
            write_atomically(target, self.paths[0].read_bytes())

    def _check(self, target: Path, merged: "Results") -> None:
        """Check that the merged result keeps every score that `target` holds, unless `target` is one of the passes.

        Raises:
            UsageError: `target` is the result of another submission, or holds a score that would be lost.
        """
        from viva.formats.results_json import load_results

        if not target.is_file() or any(path.exists() and path.samefile(target) for path in self.paths):
            return
        there, now = load_results(target), {t.extra_data.test_id for t in merged.tests if t.score is not None}
        if there.extra_data.content_hash != merged.extra_data.content_hash:
            raise UsageError(f"{target} is there already, with the result of another submission; say another place.")
        lost = [t.extra_data.test_id for t in there.tests if t.score is not None and t.extra_data.test_id not in now]
        if lost:
            raise UsageError(
                f"{target} has a mark for {lost[0]} that would be lost; give it as one of the results too."
            )


def _draw(target: Path, results: "Results") -> list[Score]:
    """Write the curves next to a merged result, as `viva grade` does; return its score if there are any curves."""
    exact = results.extra_data
    curves = tuple(
        Curve(c.test_id, c.name, tuple(c.values), tuple((t.epoch, t.value) for t in c.thresholds))
        for c in exact.curves or ()
    )
    if not curves:
        return []
    score = Score(exact.submission, exact.content_hash, exact.assignment, exact.version, (), curves=curves)
    write_curves(target, score)
    return [score]


def _holds(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _describe(target: Path, outcome: _Outcome) -> str:
    from fractions import Fraction

    exact = outcome.results.extra_data
    points = f"{show(Fraction(exact.earned))} of {show(Fraction(exact.points))} points"
    still_open = f", {show(Fraction(exact.still_open))} still open" if Fraction(exact.still_open) else ""
    took = f"{outcome.taken} {'mark' if outcome.taken == 1 else 'marks'} taken"
    lines = [f"{target}: {took}, {points}{still_open}", *(f"  {sentence}" for sentence in outcome.differing)]
    return "\n".join(terminal(text) for text in lines)
