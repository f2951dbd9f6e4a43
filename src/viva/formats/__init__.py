"""Formats that viva reads and writes: pure functions of values. Import the file you need; nothing is imported here."""
