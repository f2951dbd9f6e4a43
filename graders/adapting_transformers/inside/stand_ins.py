"""Puts the stand-ins where `import` and `from_pretrained` find them; loaded before any submitted file."""

from __future__ import annotations

import functools
import sys
from typing import Any

import transformers
from transformers.tokenization_utils_base import PreTrainedTokenizerBase

from .data import load_dataset, load_metric
from .hub import AdamW, batch_encode_plus, config, encode_plus, from_hub, padding, tokenizer_from_hub
from .settings import put_module, put_settings
from .splits import Split, Splits, concatenated


def stand_in() -> None:
    """Put them there."""
    put_module("evaluate", load=load_metric)
    put_module(
        "datasets",
        load_dataset=load_dataset,
        load_metric=load_metric,
        concatenate_datasets=concatenated,
        Dataset=Split,
        DatasetDict=Splits,
    )
    for name in ("evaluate", "datasets"):
        put_settings(name)
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
