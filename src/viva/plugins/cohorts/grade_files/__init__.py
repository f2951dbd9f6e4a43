"""Grades for learning platforms: written into the file that the platform exported."""
