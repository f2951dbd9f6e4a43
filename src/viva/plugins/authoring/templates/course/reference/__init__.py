"""Reference implementations: one file per concept, proved in tests of their own."""
