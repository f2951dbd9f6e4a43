"""Recorded answers: the key's, for released folders, and those of boxes, for regrades without running code."""
