"""Assignments of other tools: run their tests as they are, or import them as a course."""
