"""Existing unittest suites: run in the box beside the student's code, test by test; what they are is read without it.

Weights, names and maxima come from the author's files alone, read in a box that holds no submission. What a test comes
to is a claim of the process that it shares with the student's code: a program that is bent on it can claim passes.
"""
