"""The examiner: asks the student's program through the locked door, compares, and keeps the score."""
