"""Markdown, formulas and drawings of students as HTML that is safe to show."""
