"""Puts the stand-ins where `import` and `from_pretrained` find them; loaded before any file of the student's."""

from __future__ import annotations

import functools
import importlib.machinery
import sys
import types
from typing import Any

import transformers
from transformers.tokenization_utils_base import PreTrainedTokenizerBase

from .data import load_dataset, load_metric
from .hub import AdamW, batch_encode_plus, config, encode_plus, from_hub, padding, tokenizer_from_hub
from .splits import Split, Splits


def _module(name: str, **names: Any) -> None:
    """Put a stand-in where `import` looks first."""
    made = types.ModuleType(name)
    made.__spec__ = importlib.machinery.ModuleSpec(name, None)
    vars(made).update(names)
    sys.modules[name] = made


def stand_in() -> None:
    """Put them there."""
    _module("evaluate", load=load_metric)
    _module("datasets", load_dataset=load_dataset, load_metric=load_metric, Dataset=Split, DatasetDict=Splits)
    library: Any = transformers
    for owner in (library.AutoModel, library.AutoModelForSequenceClassification, library.PreTrainedModel):
        owner.from_pretrained = classmethod(from_hub)
    for owner in (library.AutoTokenizer, library.PreTrainedTokenizerBase):
        owner.from_pretrained = classmethod(tokenizer_from_hub)
    for owner in (library.AutoConfig, library.PretrainedConfig):
        owner.from_pretrained = classmethod(lambda _cls, *_names, **given: config(**given))
    methods: dict[str, Any] = {"encode_plus": encode_plus, "batch_encode_plus": batch_encode_plus}
    for name, method in methods.items():
        setattr(PreTrainedTokenizerBase, name, padding(getattr(PreTrainedTokenizerBase, name, method)))
    if not hasattr(library, "AdamW"):
        library.AdamW = AdamW
    if "tqdm" in sys.modules:
        bar = sys.modules["tqdm"].tqdm
        bar.__init__ = functools.partialmethod(bar.__init__, disable=True)
