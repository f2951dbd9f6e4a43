"""Attention: which positions a position reads, and what it takes from them."""
