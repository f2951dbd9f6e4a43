"""One file for each form of the tables, in order."""
