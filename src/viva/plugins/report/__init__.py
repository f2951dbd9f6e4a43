"""Reports: a page and a table about a class for staff, and a feedback page for each student.

The package uses no database: its functions get submissions with their scores, and return bytes.
"""
