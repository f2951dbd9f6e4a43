"""Mutation tests of the graders: right answers are broken in small ways, and each must lose a point."""
