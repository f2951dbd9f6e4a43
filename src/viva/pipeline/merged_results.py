"""Join the results of several passes over the same submissions, and write what has changed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path

from viva.formats.atomic_write import write_atomically
from viva.formats.merge import merge
from viva.formats.results_json import Results, load_results, to_bytes
from viva.model import Score
from viva.model.errors import UsageError
from viva.model.score import Curve
from viva.pipeline.curve_files import write_curves


@dataclass(slots=True)
class MergeOutcome:
    """The outcome of merging the results of one submission."""

    results: Results
    taken: int = 0
    differing: list[str] = field(default_factory=list)


@dataclass(slots=True)
class MergedResult:
    """The passes over one submission, with the first one's file first."""

    paths: Sequence[Path]

    def write(self, target: Path) -> MergeOutcome:
        """Merge all passes into `target`.

        Raises:
            UsageError: they do not belong together, or `target` holds something that would be lost.
        """
        outcome = MergeOutcome(load_results(self.paths[0]))

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
        if not target.exists():
            try:
                load_results(self.paths[0])
            except UsageError:
                return
            write_atomically(target, self.paths[0].read_bytes())

    def _check(self, target: Path, merged: Results) -> None:
        """Check that the merged result keeps every score that `target` holds, unless `target` is one of the passes.

        Raises:
            UsageError: `target` is the result of another submission, or holds a score that would be lost.
        """
        if not target.is_file() or any(path.exists() and path.samefile(target) for path in self.paths):
            return
        there, now = load_results(target), {t.extra_data.test_id for t in merged.tests if t.score is not None}
        if there.extra_data.content_hash != merged.extra_data.content_hash:
            raise UsageError(f"{target} is there already, with the result of another submission; say another place.")
        lost = [t.extra_data.test_id for t in there.tests if t.score is not None and t.extra_data.test_id not in now]
        if lost:
            raise UsageError(
                f"{target} has a grade for {lost[0]} that would be lost; give it as one of the results too."
            )


def draw_curves(target: Path, results: Results) -> list[Score]:
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
