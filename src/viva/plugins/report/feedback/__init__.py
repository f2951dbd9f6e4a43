"""Feedback pages: what each student may read of a score, shown next to the cells of their own notebook."""
