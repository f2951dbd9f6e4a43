"""The model answers of bert_lora_fudge, in the student's API, on top of `reference/`."""

from typing import Any

# Section 1: imports of reference.pretraining and reference.bert.
from reference.adaptation.adapter_registry import AdapterRegistry
from reference.adaptation.lora import LoRALinear, merge
from reference.adaptation.storage import optimizer_floats, storage_full, storage_lora, trainable_params
from reference.generation.fudge import (
    fudge_decode,
    fudge_step,
    make_prefix_dataset,
    train_prefix_classifier,
)
from reference.generation.posterior import best_of_n_distribution, importance_resample, posterior

__all__ = [
    "AdapterRegistry",
    "LoRALinear",
    "answers",
    "best_of_n_distribution",
    "fudge_decode",
    "fudge_step",
    "importance_resample",
    "make_prefix_dataset",
    "merge",
    "optimizer_floats",
    "posterior",
    "storage_full",
    "storage_lora",
    "train_prefix_classifier",
    "trainable_params",
]

answers: dict[str, Any] = {
    # Section 1
    # Sections 2 and 3
    "2b.trainable": "r*(d + k)",
    "2b.adam_full": "3*d*k",
    "2b.adam_lora": "d*k + 3*r*(d + k)",
    "2b.break_even": "d*k/(d + k)",
    "2c.inference": "d*k",
    "2c.per_task": "r*(d + k)",
    "2d.ii": "N*d*k + M*N*r*(d + k)",
    "2d.iii.full": "(M + 1)*N*d*k",
    "2d.iii.saving": "M*N*(d*k - r*(d + k))",
}
