"""From scores to marks: lateness, attempts, extensions, excuses; each mark with the sentences that explain it."""

from viva.marks.final import final
from viva.marks.grades import grades_of
from viva.marks.mark import Mark, State
from viva.marks.rounding import rounded

__all__ = ["Mark", "State", "final", "grades_of", "rounded"]
