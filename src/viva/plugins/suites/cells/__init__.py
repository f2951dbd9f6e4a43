"""Existing nbgrader and otter assignments: the box runs the student's notebook with the author's tests in it.

The tests are read from the author's files as text; none of them runs outside a box. The result of a test is an
untrusted value, because the test shares its process with the student's code, and every result says so.
"""
