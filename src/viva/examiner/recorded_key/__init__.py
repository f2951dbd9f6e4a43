"""The key without its code, in a released folder: what public tests asked it, and its answers, as plain data."""
