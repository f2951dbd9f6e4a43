"""Measurements against what a user would pick instead; never part of the tests."""
