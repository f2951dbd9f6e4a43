"""How the tables came to their present form, step by step; alembic runs what a database still lacks."""
