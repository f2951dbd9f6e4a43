"""Feedback pages: what each student may read of a score, beside the student's own notebook."""
