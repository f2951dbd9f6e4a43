"""Training curves next to the results: `curves.svg` and `curves.csv` of a submission, and those of a class."""

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path

from viva.formats.atomic_write import write_atomically
from viva.model import Score
from viva.model.extras import install_command

NO_PICTURE = "{name} was not drawn, because matplotlib is not installed ({install}); the numbers are in {table}."


def write_curves(results: Path, score: Score, warn: Callable[[str], None] = lambda _: None) -> Path | None:
    """Write the curves of a submission next to its results, or remove those of an earlier run; return their path.

    Raises:
        UsageError: they cannot be written.
    """
    stem = "curves" if results.stem == "results" else f"{results.stem}.curves"
    picture, table = results.with_name(f"{stem}.svg"), results.with_name(f"{stem}.csv")
    if not score.curves:
        _remove(picture, table)
        return None
    from viva.formats.curve_chart import picture_of, table_of

    write_atomically(table, table_of(score))
    return _draw(picture, table, lambda: picture_of(score), warn)


def write_class_curves(
    folder: Path, scores: Sequence[Score], warn: Callable[[str], None] = lambda _: None
) -> list[Path]:
    """Write the spread of the curves over a class, for each assignment with curves of at least two submissions.

    Raises:
        UsageError: they cannot be written.
    """
    written = []
    for name in dict.fromkeys(score.assignment for score in scores):
        drawn = [score for score in scores if score.assignment == name and score.curves]
        picture, table = folder / f"curves_{name}.svg", folder / f"curves_{name}.csv"
        if len(drawn) < 2:
            _remove(picture, table)
            continue
        from viva.formats.curve_chart import class_picture, class_table

        write_atomically(table, class_table(drawn))
        written.append(_draw(picture, table, lambda drawn=drawn: class_picture(drawn), warn))  # type: ignore[misc]
    return written


def _draw(picture: Path, table: Path, draw: Callable[[], bytes], warn: Callable[[str], None]) -> Path:
    """Write the picture and return its path; if it cannot be drawn, return the table's."""
    try:
        data = draw()
    except ImportError:
        _remove(picture)
        warn(NO_PICTURE.format(name=picture, install=install_command("notebooks"), table=table.name))
        return table
    write_atomically(picture, data)
    return picture


def _remove(*paths: Path) -> None:
    """Remove files of an earlier run, which do not belong to this run's results."""
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink()
