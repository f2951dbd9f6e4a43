"""Bring what you have: assignments of nbgrader, otter and Gradescope become a course of viva's.

What is read here is text: no test, notebook or configuration of another tool is run, imported or executed.
"""
