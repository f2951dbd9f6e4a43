"""The graders are graded: the key, the starter and submissions with known verdicts go through the real path."""
