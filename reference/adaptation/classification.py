"""Three ways of tuning one classifier: everything, only the linear head, or a soft prompt and the head.

Lester et al. (2021), section 2, for the prompt (the course's "prefix"); `soft_prompt.py` has the same in numpy.
"""

from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoModel

from reference.adaptation.base_classification import BoolQADataset, Loader, evaluate_model, fit

__all__ = ["BoolQADataset", "CustomModelforSequenceClassification", "evaluate_model", "train"]


class CustomModelforSequenceClassification(nn.Module):
    """A pretrained encoder under a linear head on the mean of its last hidden states."""

    def __init__(self, model_name: str, num_labels: int = 2, type: str = "full", prefix_length: int = 128) -> None:
        super().__init__()
        self.model: Any = AutoModel.from_pretrained(model_name)
        self.kind = type
        d = self.model.config.hidden_size
        self.prefix = nn.Parameter(torch.randn(prefix_length, d)) if type == "prefix" else None  # (l, d)
        self.classifier = nn.Linear(d, num_labels)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> dict[str, Tensor]:
        """Map ids and mask (batch, n) to {"logits": (batch, class)}."""
        words = self.model.get_input_embeddings()(input_ids)  # (batch, n, d)
        if self.prefix is not None:
            batch = len(input_ids)
            words = torch.cat([self.prefix.expand(batch, -1, -1), words], dim=1)  # (batch, l + n, d)
            attention_mask = torch.cat([attention_mask.new_ones(batch, len(self.prefix)), attention_mask], dim=1)
        hidden = self.model(inputs_embeds=words, attention_mask=attention_mask).last_hidden_state
        return {"logits": self.classifier(hidden.mean(dim=1))}

    def trained(self) -> list[nn.Parameter]:
        """Return the parameters that are tuned."""
        if self.kind == "full":
            return list(self.parameters())
        return [*([] if self.prefix is None else [self.prefix]), *self.classifier.parameters()]


def train(
    mymodel: Any,
    num_epochs: int,
    train_dataloader: Loader,
    validation_dataloader: Loader,
    test_dataloder: Loader,
    device: str,
    lr: float,
    model_name: str,
) -> None:
    """Train in place what the model's type says, and print the accuracies after it."""
    own = isinstance(mymodel, CustomModelforSequenceClassification)
    fit(mymodel, mymodel.trained() if own else list(mymodel.parameters()), num_epochs, train_dataloader, device, lr)
    for name, loader in {"validation": validation_dataloader, "test": test_dataloder}.items():
        print(model_name, name, evaluate_model(mymodel, loader, device))
