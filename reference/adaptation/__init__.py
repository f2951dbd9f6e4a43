"""Changing a trained model with few parameters."""
