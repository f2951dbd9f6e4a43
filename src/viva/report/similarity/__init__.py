"""Pairs of submissions that share much of their code."""
