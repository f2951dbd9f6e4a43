"""Limits on the boxes of this host: memory, processes, files, users."""
