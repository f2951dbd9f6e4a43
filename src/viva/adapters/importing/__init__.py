"""Importers: assignments of nbgrader, otter and Gradescope become a viva course.

Files are read as text: no test, notebook or configuration of another tool is run, imported or executed.
"""
