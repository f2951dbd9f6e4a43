"""grader.yaml and assignment.yaml as typed values; errors name file, line, key, and what is allowed."""

from viva.course.find import find_course, keep_apart
from viva.course.load import load_course
from viva.course.recognise import recognise
from viva.course.values import Assignment, Course, Handed

__all__ = ["Assignment", "Course", "Handed", "find_course", "keep_apart", "load_course", "recognise"]
