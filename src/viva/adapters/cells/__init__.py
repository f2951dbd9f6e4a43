"""Existing nbgrader and otter assignments: the student's notebook is run in the box with the author's tests in it.

What the tests are is read from the author's files, as text; nothing of them is run outside a box. What a test comes to
is a claim of the process that it shares with the student's code, and every result says so.
"""
