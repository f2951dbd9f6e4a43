"""GPUs: find them, and lend each to one box at a time."""
