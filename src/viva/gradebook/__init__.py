"""From scores to grades: lateness, attempts, extensions, excuses; each grade has sentences that explain it."""

from viva.gradebook.final_grades import final_grades
from viva.gradebook.grade import Mark, State
from viva.gradebook.returned_grades import grades_of
from viva.gradebook.rounding import rounded

__all__ = ["Mark", "State", "final_grades", "grades_of", "rounded"]
