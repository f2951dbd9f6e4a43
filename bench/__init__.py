"""Measurements in comparison with what a user would pick instead; never part of the tests."""
