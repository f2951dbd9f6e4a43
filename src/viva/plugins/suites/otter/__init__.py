"""Otter assignments: run their tests, or import them."""
