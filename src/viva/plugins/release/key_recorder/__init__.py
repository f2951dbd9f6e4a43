"""Records what public tests ask the key, and what it answers, while they grade a right submission."""
