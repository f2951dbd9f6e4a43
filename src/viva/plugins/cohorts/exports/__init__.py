"""Read a whole class as a platform exports it: who submitted what, when, and who did not submit."""
