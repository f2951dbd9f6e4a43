"""Generation: choosing the next token, and judging the resulting text."""
