"""From scores to grades: lateness, attempts, extensions, excuses; each grade has sentences that explain it."""

from viva.gradebook.final_grades import final_grades
from viva.gradebook.grade import Grade, State
from viva.gradebook.returned_grades import returned_grades
from viva.gradebook.rounding import rounded

__all__ = ["Grade", "State", "final_grades", "returned_grades", "rounded"]
