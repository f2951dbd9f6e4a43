"""Isolation levels: which of them this host offers, found by trying each step."""
