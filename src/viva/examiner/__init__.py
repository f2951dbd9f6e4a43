"""The examiner: asks the student's program over a connection to its box, compares the answers, and keeps the score."""
