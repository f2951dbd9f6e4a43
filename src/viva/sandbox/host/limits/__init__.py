"""Limits of the boxes on this host: memory, processes, files, users."""
