"""Batching: from sequences of many lengths to the arrays that a model reads."""
