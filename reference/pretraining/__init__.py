"""What a model is asked to predict before it has a task."""
