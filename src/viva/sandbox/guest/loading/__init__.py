"""Load a submission in the box: its files, its modules, the author's helpers."""
