"""Compares what the student's code returned with what the key returns: pure functions over plain values."""

from viva.compare.agree import agree
from viva.compare.counterexamples.search import agree_on
from viva.compare.disagreement import Disagreement
from viva.compare.distributions import agree_in_distribution

__all__ = ["Disagreement", "agree", "agree_in_distribution", "agree_on"]
