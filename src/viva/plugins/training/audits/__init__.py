"""Audits of what students report: stated accuracies, logs of training, submitted predictions, the splitting of data.

A finding is a sentence with its arithmetic, for the student and for whoever grades the report
(`needs_review(..., findings=[f.text for f in audit_runs(...)])`); it never takes a point by itself: a person decides.
"""

from viva.plugins.training.audits.accuracies import (
    audit_accuracy,
    audit_grid,
    audit_runs,
    read_accuracy,
    right_answers,
)
from viva.plugins.training.audits.finding import Finding
from viva.plugins.training.audits.log_rows import LogRow, read_log
from viva.plugins.training.audits.reported_predictions import audit_predictions
from viva.plugins.training.audits.split_seeds import audit_seeds
from viva.plugins.training.audits.training_log import audit_log

__all__ = [
    "Finding",
    "LogRow",
    "audit_accuracy",
    "audit_grid",
    "audit_log",
    "audit_predictions",
    "audit_runs",
    "audit_seeds",
    "read_accuracy",
    "read_log",
    "right_answers",
]
