"""A stand-in for the model hub: a tiny BERT and a tiny tokenizer under any name that a program asks for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import tokenizers
import torch
import transformers
from torch import nn
from transformers.models.bert.modeling_bert import BertForSequenceClassification, BertModel

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["is", "was", "does", "can", "the", "a", "in", "of", "it", "not", "cat", "dog", "bird", "house", "city", "old"]


class Hub:
    """What `from_pretrained` gives: the weights that a test has set, or random ones."""

    weights: Mapping[str, Any] | None = None
    sizes: Mapping[str, int] | None = None
    """Where there are no weights: what `BertConfig` calls the sizes of a model, random by the seed."""
    seed: int | None = None
    dropout = 0.1
    heads = 2
    tokenizer: Any = None
    asked: ClassVar[set[str]] = set()
    """The names that models and tokenizers were asked for by."""
    base: ClassVar[dict[int, tuple[str, nn.Parameter]]] = {}
    """The parameters of the backbones given since `serve`, by identity; kept alive, so that ids stay theirs."""


def serve(weights: Mapping[str, Any] | None, heads: int = 2, dropout: float = 0.0) -> None:
    """From now on every pretrained model is a BERT with these weights, by the names that transformers gives them."""
    Hub.weights, Hub.heads, Hub.dropout, Hub.base = weights, heads, dropout, {}
    Hub.sizes = Hub.seed = None


def serve_at_random(sizes: Mapping[str, int], seed: int) -> None:
    """From now on every pretrained model is a BERT of these sizes, named as in `BertConfig`, with the same weights."""
    serve(None)
    Hub.sizes, Hub.seed = sizes, seed


def config(**given: Any) -> Any:
    """Return the configuration of the weights that are served, of the sizes that are, or of a tiny model."""
    sizes: dict[str, Any] = {"vocab_size": len(SPECIAL) + len(WORDS), "hidden_size": 16, "max_position_embeddings": 512}
    intermediate, layers = 32, 2
    if Hub.weights is not None:
        named = Hub.weights
        sizes["vocab_size"], sizes["hidden_size"] = named["embeddings.word_embeddings.weight"].shape
        sizes["max_position_embeddings"] = len(named["embeddings.position_embeddings.weight"])
        intermediate = len(named["encoder.layer.0.intermediate.dense.bias"])
        layers = sum(name.endswith("intermediate.dense.bias") for name in named)
    sizes.update(num_hidden_layers=layers, num_attention_heads=Hub.heads, intermediate_size=intermediate)
    sizes.update(Hub.sizes or {})
    return transformers.BertConfig(
        **sizes,
        hidden_dropout_prob=Hub.dropout,
        attention_probs_dropout_prob=Hub.dropout,
        **{name: value for name, value in given.items() if name in ("num_labels", "output_hidden_states")},
    )


def from_hub(cls: type, *names: Any, **given: Any) -> Any:
    """`from_pretrained` of every model: a backbone, with a classifier on top if the class has one."""
    note(names, given)
    wanted = {"num_labels": getattr(given.get("config"), "num_labels", 2), **given}
    with_head = "ForSequenceClassification" in cls.__name__
    made = BertForSequenceClassification if with_head else BertModel
    with torch.random.fork_rng(enabled=Hub.seed is not None, devices=[]):
        if Hub.seed is not None:
            torch.manual_seed(Hub.seed)
        model: Any = made(config(**wanted))
    base = model.bert if with_head else model
    if Hub.weights is not None:
        base.load_state_dict({name: torch.as_tensor(value) for name, value in Hub.weights.items()}, strict=False)
    Hub.base.update({id(p): (name, p) for name, p in base.named_parameters()})
    return model.eval()


def tokenizer(words: Sequence[str] = WORDS, first_id: int = 0) -> Any:
    """Return a tokenizer in BERT's format: a word is a token; ids count over the special tokens, then the words.

    Where they do not begin with 0, the ids 0 and 1 are those of [CLS] and of the first word, not of padding.
    """
    ids = {token: index for index, token in enumerate([*SPECIAL, *words], first_id)}
    if first_id:
        ids.update({"[CLS]": 0, words[0]: 1})
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(ids, unk_token="[UNK]"))
    made.normalizer = tokenizers.normalizers.Lowercase()
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[(t, ids[t]) for t in SPECIAL[2:4]]
    )
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL))  # noqa: B905  # Python 3.9
    fast: Any = transformers.PreTrainedTokenizerFast
    return fast(tokenizer_object=made, model_max_length=512, **names)


def note(names: Sequence[Any], given: Mapping[str, Any]) -> None:
    """Remember what the hub was asked for."""
    Hub.asked.add(str(names[0] if names else given.get("pretrained_model_name_or_path")))


def tokenizer_from_hub(_cls: type, *names: Any, **given: Any) -> Any:
    """`from_pretrained` of every tokenizer."""
    note(names, given)
    if Hub.tokenizer is None:
        Hub.tokenizer = tokenizer()
    return Hub.tokenizer


def encode_plus(self: Any, text: Any, text_pair: Any = None, **given: Any) -> Any:
    """Encode one text, as in transformers 4; version 5 no longer has this method."""
    return self(text, text_pair, **given)


def batch_encode_plus(self: Any, texts: Sequence[Any], **given: Any) -> Any:
    """Encode several texts, as in transformers 4; version 5 no longer has this method."""
    pairs = [text for text in texts if isinstance(text, (list, tuple)) and len(text) == 2]
    if len(pairs) == len(texts) and texts:
        return self([a for a, _ in pairs], [b for _, b in pairs], **given)
    return self(list(texts), **given)


def padding(encode: Callable[..., Any]) -> Callable[..., Any]:
    """Return an encoding function that still takes `pad_to_max_length`, which version 4 took for long."""

    @functools.wraps(encode)
    def encoding(*texts: Any, **given: Any) -> Any:
        if given.pop("pad_to_max_length", False):
            given["padding"] = "max_length"
        return encode(*texts, **given)

    return encoding


class AdamW(torch.optim.AdamW):
    """`transformers.AdamW`, gone from version 5."""

    def __init__(self, *arguments: Any, **given: Any) -> None:
        for gone in ("correct_bias", "no_deprecation_warning"):
            given.pop(gone, None)
        super().__init__(*arguments, **given)


def pretrained_classifier() -> Any:
    """Return a classifier of the library's on what is served."""
    model = transformers.AutoModelForSequenceClassification.from_pretrained("tiny", num_labels=2)
    model.type = "full"
    return model
