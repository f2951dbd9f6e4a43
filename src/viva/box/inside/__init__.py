"""Runs in the student's process tree, under the course's own interpreter: standard library, numpy, msgpack, Python 3.9.

Loaded by path as the package `viva_box`, so that nothing else of viva is ever imported, or visible, in a box.
"""
