"""`viva merge BASE OTHER…`: join the results of several passes, such as one on a GPU with an earlier one without."""

from pathlib import Path

import click

from viva.formats.decimal_points import total_in_words
from viva.formats.escaping import line, terminal
from viva.formats.results_json import results_below, totals
from viva.model import Score
from viva.model.counting import counted
from viva.model.errors import UsageError
from viva.pipeline.curve_files import write_class_curves
from viva.pipeline.merged_results import MergedResult, MergeOutcome, draw_curves


@click.command("merge")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="BASE OTHER…")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE|DIR",
    help="Where to write (default: BASE, which then also holds the grades of the others).",
)  # fmt: skip
def command(paths: tuple[Path, ...], output: Path | None) -> int:
    """Join results of the same submissions: files, or folders that `viva grade -o` wrote.

    A test that was left out takes the grade of the pass that has one. If two passes have graded a test, the earlier
    grade is kept, and a difference is reported. Merging again changes nothing.

    Exit status: 0 merged, 1 something does not belong together (reported, and left as it was).
    """
    if len(paths) < 2:
        raise UsageError("merge joins two results or more; give BASE and what is to be joined with it.")
    if len({path.is_dir() for path in paths if path.exists()}) > 1:
        raise UsageError("Some of these are folders and others files; give results of one kind.")
    base = output or paths[0]
    if not any(path.is_dir() for path in paths):
        outcome = MergedResult(list(paths)).write(base)
        click.echo(_describe(base, outcome))
        draw_curves(base, outcome.results)
        return 0
    below = {path: set(results_below(path)) for path in paths}
    merged, broken, drawn = 0, 0, list[Score]()
    for name in sorted(set().union(*below.values())):
        result = MergedResult([path / name for path in paths if name in below[path]])
        try:
            outcome = result.write(base / name)
        except UsageError as error:
            broken += 1
            click.echo(f"viva: {line(str(error), characters=1000)}", err=True)
            result.rescue(base / name)
            continue
        merged += 1
        click.echo(_describe(base / name, outcome))
        drawn += draw_curves(base / name, outcome.results)
    if len(drawn) > 1:
        write_class_curves(base, drawn)
    click.echo(f"{counted(merged, 'result')} merged" + (f", {broken} could not be." if broken else "."))
    return 1 if broken else 0


def _describe(target: Path, outcome: MergeOutcome) -> str:
    points = total_in_words(totals(outcome.results.tests))
    took = f"{counted(outcome.taken, 'grade')} taken"
    lines = [f"{target}: {took}, {points}", *(f"  {sentence}" for sentence in outcome.differing)]
    return "\n".join(terminal(text) for text in lines)
