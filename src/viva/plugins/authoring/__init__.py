"""New courses and new tests, written from templates."""
