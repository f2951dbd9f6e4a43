"""What a student submits besides code: predictions and checkpoints, read here as untrusted data.

given = artifacts.predictions(submission, "predictions.csv", len(LABELS), classes=["no", "yes"])
reached = artifacts.accuracy(given, LABELS)      # Fraction(2319, 3270)
weights = artifacts.checkpoint(submission, "model.safetensors", shapes={"head.weight": (2, 48)})

No pickle is ever opened. Sizes that a file declares are compared with the file before memory is allocated for them.
"""

from viva.plugins.training.artifacts.scoring import accuracy, predicted_classes, tied_rows
from viva.plugins.training.artifacts.submitted_files import checkpoint, predictions

__all__ = ["accuracy", "checkpoint", "predicted_classes", "predictions", "tied_rows"]
