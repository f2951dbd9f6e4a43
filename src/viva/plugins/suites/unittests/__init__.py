"""Existing unittest suites: run in the box with the student's code, test by test; described without it.

Weights, names and maxima come from the author's files alone, read in a box that holds no submission. The result of a
test is an untrusted value, because the test shares its process with the student's code: a program that is written to
cheat can report passes.
"""
