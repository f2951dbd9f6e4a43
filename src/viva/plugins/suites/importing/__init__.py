"""Importers: assignments of nbgrader, otter, Gradescope and GitHub Classroom become a viva course.

Files are read as text: no test, notebook or configuration of another tool is run, imported or executed.
"""
