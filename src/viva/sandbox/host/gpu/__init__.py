"""GPUs: find them, lend each to one box at a time."""
