"""grader.yaml and assignment.yaml as typed values; errors name file, line, key, and what is allowed."""

from viva.config.assignment import Assignment, SubmissionFiles
from viva.config.course import Course
from viva.config.find_course import find_course, keep_apart
from viva.config.load_course import load_course

__all__ = ["Assignment", "Course", "SubmissionFiles", "find_course", "keep_apart", "load_course"]
