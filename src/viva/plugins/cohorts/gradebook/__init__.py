"""From scores to grades: lateness, attempts, extensions, excuses; each grade has sentences that explain it."""

from viva.plugins.cohorts.gradebook.final_grades import final_grades
from viva.plugins.cohorts.gradebook.grade import Grade, State
from viva.plugins.cohorts.gradebook.returned_grades import returned_grades
from viva.plugins.cohorts.gradebook.rounding import rounded

__all__ = ["Grade", "State", "final_grades", "returned_grades", "rounded"]
