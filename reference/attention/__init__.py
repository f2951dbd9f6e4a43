"""What a position may look at, and what it takes from there."""
