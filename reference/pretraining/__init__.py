"""Pre-training: what a model predicts before it has a task."""
