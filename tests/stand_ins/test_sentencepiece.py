"""The stand-in for the lab's SentencePiece model behaves as a model of whole words does."""

import io
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from graders.transfer_learning.inside.asking import Pieces
from graders.transfer_learning.inside.loaders import Loader

pytestmark = pytest.mark.long  # a model is trained
WORDS = ["le", "chat", "noir", "dort", "dans", "la", "maison", "une", "petite", "souris", "mange", "du", "fromage"]
BLANKS = st.sampled_from([" ", "  ", "\t", "\n", "▁", " ▁"])


@pytest.fixture(scope="module")
def real() -> Any:
    """A model whose pieces are the words."""
    sentencepiece = pytest.importorskip("sentencepiece")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([" ".join(WORDS)] * 20),
        model_writer=model,
        model_type="word",
        vocab_size=40,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


ENCODINGS: dict[str, Callable[[Any, str], Any]] = {
    "encode": lambda model, text: model.encode(text, out_type=str),
    "encode_as_pieces": lambda model, text: model.encode_as_pieces(text),
    "EncodeAsPieces": lambda model, text: model.EncodeAsPieces(text),
    "Encode": lambda model, text: model.Encode(text, out_type=str),
}
DECODINGS: dict[str, Callable[[Any, list[str]], Any]] = {
    "decode": lambda model, pieces: model.decode(pieces),
    "decode_pieces": lambda model, pieces: model.decode_pieces(pieces),
    "DecodePieces": lambda model, pieces: model.DecodePieces(pieces),
    "Decode": lambda model, pieces: model.Decode(pieces),
}


@given(st.lists(st.tuples(st.sampled_from(WORDS), BLANKS), max_size=6), st.sampled_from(["", " ", "▁"]))
def test_texts_are_cut_alike(real: Any, words: list[tuple[str, str]], before: str) -> None:
    text = before + "".join(word + blank for word, blank in words)
    for encode in ENCODINGS.values():
        assert encode(Pieces(), text) == encode(real, text)


@given(st.lists(st.sampled_from(WORDS), max_size=6))
def test_pieces_are_joined_alike(real: Any, words: list[str]) -> None:
    pieces = [f"▁{word}" for word in words]
    for decode in DECODINGS.values():
        assert decode(Pieces(), pieces) == decode(real, pieces) == " ".join(words)


def test_a_loader_behaves_as_one_of_torch() -> None:
    items = [(torch.arange(n, n + 3), torch.tensor(n)) for n in range(5)]

    def collate(some: list[Any]) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.stack([x for x, _ in some], dim=1), torch.stack([y for _, y in some])

    dataset: Any = items
    real: Any = torch.utils.data.DataLoader(dataset, batch_size=2, collate_fn=collate)
    ours = Loader([collate(items[start : start + 2]) for start in (0, 2, 4)])
    assert (len(ours), len(ours.dataset), ours.batch_size) == (len(real), len(real.dataset), real.batch_size)
    for _ in range(2):  # a loader begins again each time
        for (x, y), (real_x, real_y) in zip(ours, real, strict=True):
            assert torch.equal(x, real_x) and torch.equal(y, real_y)
