"""Isolation levels: which ones this host offers, found by trying each step."""
