"""Objects that stand in a test for the student's names and objects, and for the answer key."""
