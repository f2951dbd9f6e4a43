"""Grading by hand: the written answers of a class, question by question."""
