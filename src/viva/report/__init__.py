"""Reports: a page and a table about a class for staff, a feedback page for each student, and similar submissions.

The package uses no database: its functions get submissions with their scores, and return bytes.
"""
