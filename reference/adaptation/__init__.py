"""Adapting a trained model with few parameters."""
