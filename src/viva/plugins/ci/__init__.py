"""Formats for continuous integration, as pure functions of a result. Import the file you need."""
