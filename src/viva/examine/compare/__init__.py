"""Comparing what the student's code returned with what the key returns: pure functions over plain values."""

from viva.examine.compare.agree import agree
from viva.examine.compare.disagreement import Disagreement
from viva.examine.compare.search import agree_on

__all__ = ["Disagreement", "agree", "agree_on"]
