"""Tests that an author tries in a notebook, against the solution and ways to break it."""
