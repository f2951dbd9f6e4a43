"""Marks as learning platforms take them: written into the file that the platform itself exported."""
