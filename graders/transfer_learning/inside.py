"""The author's helpers that live in the box: a model with known gradients, loaders, and what properties need.

Holds no answers. Runs in the course's interpreter: numpy, torch and the standard library, Python 3.9 or later.

Functions of the lab find `model`, `optimizer`, `token2ind`, … as globals; others take them as arguments. `ask` serves
both: the test has set the globals, and what the signature asks for is passed.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import nn

_ALSO_CALLED = {
    "model": ("net", "classifier", "lm"),
    "optimizer": ("optim", "opt"),
    "criterion": ("loss_fn", "loss_function"),
    "token2ind": ("vocab", "vocabulary", "word2ind", "stoi"),
    "ind2token": ("ind2word", "itos"),
}
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def ask(function: Callable[..., Any], main: Sequence[Any], known: Mapping[str, Any]) -> Any:
    """Call a function on what it is about, and with whatever else its signature asks for.

    Args:
        function: the student's.
        main: what it is about, in order, such as the sentence.
        known: what may be asked for by name: model, token2ind, ….
    """
    parameters = _parameters(function)
    if parameters is None:
        return function(*main)
    chosen = _chosen(parameters, known, len(main))
    free = [p.name for p in parameters if p.name not in chosen]
    named = {free[i]: main[i] for i in range(min(len(free), len(main)))}
    return function(**named, **{name: known[meaning] for name, meaning in chosen.items()})


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """The named parameters; of a decorated function, those of the one inside. None if none can be seen."""
    for _ in range(5):
        try:
            found = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            return None
        named = [p for p in found if p.kind in _NAMED]
        inner = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
        wrapped = [value for value in inner if inspect.isfunction(value) or inspect.isclass(value)]
        if named or not wrapped:
            return named if named or not found else None
        function = wrapped[0]
    return None


def _chosen(parameters: Sequence[inspect.Parameter], known: Mapping[str, Any], least: int) -> dict[str, str]:
    """Which parameters ask for what is known: by name, or by a word of it (`my_model`) as long as `least` are left."""
    meanings = {other: name for name in known for other in (name, *_ALSO_CALLED.get(name, ()))}
    names = [parameter.name for parameter in parameters]
    chosen = {name: meanings[name.lower()] for name in names if name.lower() in meanings}
    for name in names:
        found = [meanings[word] for word in name.lower().split("_") if word in meanings]
        if name not in chosen and found and found[0] not in chosen.values() and len(names) - len(chosen) > least:
            chosen[name] = found[0]
    return chosen


def each(function: Callable[..., Any], questions: Sequence[Sequence[Any]]) -> list[Any]:
    """Call a function on each list of arguments, all in one crossing of the door."""
    return [function(*arguments) for arguments in questions]


def ask_each(function: Callable[..., Any], questions: Sequence[Sequence[Any]], known: Mapping[str, Any]) -> list[Any]:
    """`ask` about each list of arguments."""
    return [ask(function, main, known) for main in questions]


def cpu() -> torch.device:
    """What the notebook calls `device`."""
    return torch.device("cpu")


class Pieces:
    """Stands for the lab's SentencePiece model; the tokens of our sentences are separated by spaces already."""

    def encode_as_pieces(self, text: str) -> list[str]:
        """Text to tokens."""
        return text.split()

    def decode_pieces(self, pieces: Sequence[str]) -> str:
        """Tokens to text."""
        return " ".join(pieces)


# A model whose gradient is known by hand.


class _Means(nn.Module):
    """The base: at each position a mean of the embeddings that the mask lets it see."""

    def __init__(self, embedding: Any) -> None:
        super().__init__()
        self.encoder = nn.Embedding(len(embedding), len(embedding[0]))
        with torch.no_grad():
            self.encoder.weight.copy_(torch.as_tensor(embedding))
        self.nhid = self.encoder.embedding_dim

    @staticmethod
    def generate_square_subsequent_mask(sz: int) -> torch.Tensor:
        """Torch's own."""
        return nn.Transformer.generate_square_subsequent_mask(sz)

    def forward(self, src: torch.Tensor, src_mask: Any = None, *_: Any, **__: Any) -> torch.Tensor:
        """(L, N) -> (L, N, d)."""
        return torch.einsum("ts,snd->tnd", _weights(len(src), src_mask), self.encoder(src.long()))


class _Scores(nn.Module):
    """The head; it has the lab's name for its layer."""

    def __init__(self, weight: Any, bias: Any) -> None:
        super().__init__()
        self.decoder = nn.Linear(len(weight[0]), len(weight))
        with torch.no_grad():
            self.decoder.weight.copy_(torch.as_tensor(weight))
            self.decoder.bias.copy_(torch.as_tensor(bias))

    def forward(self, x: torch.Tensor) -> Any:
        """(..., d) -> (..., n_out)."""
        return self.decoder(x)


class PrefixMean(nn.Module):
    """Base and head, as in the lab. In one of its modes it may turn its scores round, as dropout does in training."""

    def __init__(self, embedding: Any, weight: Any, bias: Any, spoiled_in: str = "") -> None:
        super().__init__()
        self.base = _Means(embedding)
        self.classifier = _Scores(weight, bias)
        self.spoiled_in = spoiled_in
        self.followed = False

    def forward(self, src: torch.Tensor, src_mask: Any = None, *_: Any, **__: Any) -> torch.Tensor:
        """(L, N) -> (L, N, n_out)."""
        self.followed = self.followed or torch.is_grad_enabled()
        scores: torch.Tensor = self.classifier(self.base(src, src_mask))
        return -scores if self.spoiled_in == ("training" if self.training else "evaluation") else scores

    def parts(self) -> list[torch.Tensor]:
        """Embedding, weight and bias of the head."""
        return [self.base.encoder.weight, self.classifier.decoder.weight, self.classifier.decoder.bias]


def _weights(length: int, mask: Any) -> torch.Tensor:
    """More for later positions, so that the order of the tokens matters."""
    later = torch.arange(1, length + 1).float().log()
    if mask is None:
        return torch.softmax(later.expand(length, length), dim=-1)
    if mask.shape[-2:] != (length, length):  # what torch's own layers say
        raise RuntimeError(f"The shape of the 2D attn_mask is {tuple(mask.shape)}, but should be {(length, length)}.")
    if mask.dtype is torch.bool:  # True = masked for nn.Transformer, True = visible for attention by hand
        hidden = ~mask if bool(mask.diagonal().all()) else mask
        mask = torch.zeros(mask.shape).masked_fill(hidden, float("-inf"))
    return torch.softmax(mask.float() + later, dim=-1)


def plain_descent(model: nn.Module, learning_rate: float) -> torch.optim.Optimizer:
    """An optimizer that shows the gradient as it is."""
    return torch.optim.SGD(model.parameters(), lr=learning_rate)


def adam(model: nn.Module, learning_rate: float) -> torch.optim.Optimizer:
    """What the lab trains with."""
    return torch.optim.Adam(model.parameters(), lr=learning_rate)


def criterion(ignored: int | None) -> nn.CrossEntropyLoss:
    """The lab's criterion; it may ignore a target."""
    return nn.CrossEntropyLoss() if ignored is None else nn.CrossEntropyLoss(ignore_index=ignored)


class Loader:
    """A data loader over batches (source, target) that are given."""

    def __init__(self, batches: Sequence[tuple[Any, Any]], times: int = 1) -> None:
        self.batches = [(torch.as_tensor(x), torch.as_tensor(y)) for x, y in batches] * times
        self.dataset = range(sum(x.shape[1] for x, _ in self.batches))
        self.batch_size = max(x.shape[1] for x, _ in self.batches)

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        return iter(self.batches)


def get_loader(loader: Loader) -> Callable[..., Loader]:
    """What the lab's `train` makes its loader with; it is asked with paths and gives this loader."""
    return lambda *_, **__: loader


def steps(train_step: Callable[..., Any], loader: Loader, task: str, known: Mapping[str, Any]) -> None:
    """One epoch by a function that takes a single batch."""
    for source, target in loader:
        ask(train_step, (source.clone(), target.clone(), task), known)


# Data.


def items(dataset: Any) -> list[Any]:
    """Every item of a dataset as a pair (source, target)."""
    found = [dataset[index] for index in range(len(dataset))]
    return [(item["source_sequence"], item["target"]) if isinstance(item, Mapping) else item for item in found]


def tensors(pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> list[dict[str, torch.Tensor]]:
    """Items as a dataset of the lab gives them to the collator."""
    return [{"source_sequence": torch.tensor(source), "target": torch.tensor(target)} for source, target in pairs]


# What the properties are about. Models are asked in evaluation mode and without gradients.


def positions_of(positional_encoding: Callable[..., Any], max_len: int, d: int) -> Any:
    """The table that a module for positions adds, shape (max_len, d)."""
    positional_encoding(d).train()(torch.zeros(2, 1, d))  # with its defaults
    module = positional_encoding(d, 0.0, max_len).eval()
    return module(torch.zeros(max_len, 1, d))[:, 0]


@torch.no_grad()
def applied(module: nn.Module, x: Any) -> Any:
    """What a module makes of an array."""
    return module.eval()(torch.as_tensor(x))


def method(owner: Any, name: str) -> Callable[..., Any]:
    """A method as a function of its own."""
    found: Callable[..., Any] = getattr(owner, name)
    return found


@torch.no_grad()
def shapes(model: Any, source: Any, own_mask: Any = None) -> dict[str, Any]:
    """What a model returns, the shape of its base's output, and how far base and head together are from the model."""
    ids = torch.as_tensor(source)
    model.eval()

    def ask_both(mask: torch.Tensor) -> dict[str, Any]:
        features, scores = model.base(ids, mask), model(ids, mask)
        again = model.classifier(features)
        apart = (again - scores).abs().max() if again.shape == scores.shape else torch.tensor(float("inf"))
        return {"base": tuple(features.shape), "scores": scores, "apart": float(apart)}

    found: dict[str, Any] = _with_each(_masks(model.base, len(ids), own_mask), ask_both)[0]
    return found


@torch.no_grad()
def outputs(base: Any, sources: Sequence[Any], own_mask: Any, open_mask: bool = False) -> list[list[Any]]:
    """The base's output for each source, once with torch's mask and once with the student's own, if they differ.

    Args:
        base: a `TransformerModel`.
        sources: token ids, (L, N), all of one length.
        own_mask: a function sz -> mask, or None; the model's method comes first.
        open_mask: let every position see every other: the mask's last row, which hides nothing, in every row.
    """
    base.eval()
    length = len(sources[0])

    def ask_all(mask: torch.Tensor) -> list[Any]:
        used = mask[-1:].expand(length, length).contiguous() if open_mask else mask
        return [base(torch.as_tensor(source), used) for source in sources]

    return _with_each(_masks(base, length, own_mask), ask_all)


def _masks(base: Any, length: int, own_mask: Any) -> list[torch.Tensor]:
    """Torch's causal mask, and the student's if it is another."""
    usual = nn.Transformer.generate_square_subsequent_mask(length)
    own = getattr(base, "generate_square_subsequent_mask", None) or own_mask
    mask = usual if own is None else torch.as_tensor(own(length))
    is_other = mask.shape == usual.shape and not (mask.dtype == usual.dtype and torch.equal(mask, usual))
    return [usual, mask] if is_other else [usual]


def _with_each(masks: Sequence[torch.Tensor], function: Callable[[torch.Tensor], Any]) -> list[Any]:
    """What the function makes of each mask that it can take: attention by hand may read one form of mask only."""
    found, problem = [], None
    for mask in masks:
        try:
            found.append(function(mask))
        except Exception as error:
            problem = error
    if problem is not None and not found:
        raise problem
    return found


def without_positions(base: nn.Module, positional_encoding: type) -> int:
    """Take the positional encoding out of a model; returns how many modules were silenced."""
    modules = [module for module in base.modules() if isinstance(module, positional_encoding)]
    for module in modules:
        module.forward = lambda x, *_, **__: x
    return len(modules)


@torch.no_grad()
def what_flows(base: nn.Module, source: Any, own_mask: Any = None) -> dict[str, Any]:
    """The embeddings of a base, and every (L, N, d) that enters or leaves one of its modules."""
    ids = torch.as_tensor(source)
    seen: list[torch.Tensor] = []

    def remember(_module: Any, entering: Any, leaving: Any) -> None:
        for value in (*entering, leaving):
            if isinstance(value, torch.Tensor) and value.ndim == 3 and len(seen) < 100:
                seen.append(value.transpose(0, 1) if value.shape[:2] == ids.T.shape != ids.shape else value)

    hooks = [module.register_forward_hook(remember) for module in base.modules() if module is not base]
    outputs(base, [ids], own_mask)
    for hook in hooks:
        hook.remove()
    tables = [module.weight for module in base.modules() if isinstance(module, nn.Embedding)]
    tables = tables or [p for p in base.parameters() if p.ndim == 2 and len(p) > int(ids.max())]
    return {"embedding": tables[0] if tables else None, "seen": [v for v in seen if v.shape[:2] == ids.shape]}


def parameter_count(module: nn.Module) -> int:
    """How many numbers are trained."""
    return sum(p.numel() for p in module.parameters() if p.requires_grad)


def parameters(module: nn.Module) -> dict[str, torch.Tensor]:
    """Every parameter by name, as it is now."""
    return {name: value.detach().clone() for name, value in module.named_parameters()}


def load(function: Callable[..., Any], path: str, known: Mapping[str, Any]) -> Any:
    """Have weights loaded into `known["model"]`; returns the model that came back, or that one."""
    returned = ask(function, (path,), known)
    return returned if isinstance(returned, nn.Module) else known["model"]


def copied(model: nn.Module) -> nn.Module:
    """The model as it is now."""
    return copy.deepcopy(model)


def save(model: nn.Module, path: str) -> None:
    """A checkpoint as the lab's."""
    torch.save({"model_state_dict": model.state_dict()}, path)


@torch.no_grad()
def loss_of(model: Any, loader: Loader, own_mask: Any, ignored: int) -> float:
    """The mean cross entropy of a language model over a loader, with the mask that serves it best."""
    model.eval()
    criterion = nn.CrossEntropyLoss(ignore_index=ignored)
    source, target = loader.batches[0]
    features = outputs(model.base, [source], own_mask)
    found = [criterion(model.classifier(x).reshape(len(target), -1), target) for [x] in features]
    return float(min(found))
