"""Reference implementations, one file per concept: numpy and the standard library, float64; proved in tests/."""
