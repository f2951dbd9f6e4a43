"""`viva pack`: which files of a folder are submitted, the archive of them, and whether it can be graded."""
