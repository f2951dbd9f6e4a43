"""The stand-in for a pretrained tokenizer behaves as DistilBERT's does with the same vocabulary."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.table_rows import Rows

pytestmark = pytest.mark.long  # transformers takes seconds to import

QUESTION, PASSAGE = "is the cat", "A dog, a zebra; in the house"
CALLS: dict[str, Callable[[Any], Any]] = {
    "one text": lambda tokenizer: tokenizer(PASSAGE),
    "a pair": lambda tokenizer: tokenizer(QUESTION, PASSAGE),
    "written separator": lambda tokenizer: tokenizer(f"{QUESTION} [SEP] {PASSAGE}"),
    "cut and padded": lambda tokenizer: [
        tokenizer(QUESTION, PASSAGE, truncation=how, max_length=length, padding="max_length")
        for how in ("only_second", True)
        for length in (8, 20)
    ],
    "a batch": lambda tokenizer: tokenizer([QUESTION, "it"], [PASSAGE, "dog"], padding=True),
    "a batch of pairs": lambda tokenizer: tokenizer([(QUESTION, PASSAGE), ("it", "dog")], padding="longest"),
    "empty texts": lambda tokenizer: (tokenizer(""), tokenizer("", PASSAGE)),
    "encode": lambda tokenizer: tokenizer.encode(QUESTION, add_special_tokens=False),
    "tokens": lambda tokenizer: tokenizer.tokenize(PASSAGE),
    "ids of tokens": lambda tokenizer: tokenizer.convert_tokens_to_ids(["cat", "[SEP]", "zebra"]),
    "decode": lambda tokenizer: tokenizer.decode(tokenizer(QUESTION, PASSAGE)["input_ids"]),
    "without special tokens": lambda tokenizer: tokenizer.decode(
        tokenizer(QUESTION)["input_ids"], skip_special_tokens=True
    ),
    "special ids": lambda tokenizer: [
        tokenizer.pad_token_id, tokenizer.unk_token_id, tokenizer.cls_token_id, tokenizer.sep_token_id,
        tokenizer.mask_token_id, tokenizer.sep_token, tokenizer.pad_token, tokenizer.vocab_size, len(tokenizer),
    ],
}  # fmt: skip


def test_texts_become_the_same_ids(inside: Callable[[str], Any], tmp_path: Path) -> None:
    hub = inside("hub")
    transformers = importlib.import_module("transformers")
    vocabulary = tmp_path / "vocab.txt"
    vocabulary.write_text("\n".join([*hub.SPECIAL, *hub.WORDS]) + "\n", "utf-8")
    real = transformers.BertTokenizer(vocab=str(vocabulary), model_input_names=["input_ids", "attention_mask"])
    ours = hub.tokenizer()
    with Rows() as row:
        for name, call in CALLS.items():
            with row(name):
                assert plain(call(ours)) == plain(call(real))


def plain(value: Any) -> Any:
    """Encodings as dicts."""
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return dict(value) if hasattr(value, "keys") else value
