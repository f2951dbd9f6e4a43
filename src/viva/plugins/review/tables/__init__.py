"""Grades as CSV tables, out to a spreadsheet and in again."""
