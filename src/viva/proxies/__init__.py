"""Objects that represent the student's names, the student's objects and the answer key in a test."""
