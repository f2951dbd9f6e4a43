"""Graders that are graded: right answers are broken in small ways, and each must lose a point."""
