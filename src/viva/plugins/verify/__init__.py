"""Checks of the graders: the key, the starter and the example submissions are graded as students' work is."""
