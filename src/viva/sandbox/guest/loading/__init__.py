"""Load a submission in the box: its files, its modules and the author's helpers."""
