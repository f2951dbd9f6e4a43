"""Recorded answers: of the key, for released folders, and of boxes, for regrades without running code."""
