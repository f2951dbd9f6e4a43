"""The model answers, in the student's API."""

from reference.word_counts import word_counts as word_counts
