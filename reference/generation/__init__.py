"""Choosing the next token, and judging the text that comes of it."""
