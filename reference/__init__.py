"""Reference implementations, one file per concept: numpy and the standard library only, float64, proved in tests/reference/."""
