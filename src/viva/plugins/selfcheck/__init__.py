"""Checks that students run themselves: in a live notebook (`viva.check`), on every save, and before they submit."""
