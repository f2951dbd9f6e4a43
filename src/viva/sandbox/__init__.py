"""Run untrusted Python in a sandbox. Importing this package alone is cheap; `api` has what a caller needs."""
