"""Question 3.2: tune everything, the head alone, or a prefix and the head. Fill in what is marked TODO.

    python classification.py --type prefix --prefix_length 128 --model roberta-base --num_epochs 7 --lr 1e-4
"""

import argparse

import evaluate
import matplotlib.pyplot as plt
import torch
from datasets import load_dataset
from torch import nn
from torch.utils.data import DataLoader
from tqdm import tqdm
from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer, get_scheduler


class CustomModelforSequenceClassification(nn.Module):
    """A pretrained encoder, a prefix of prefix_length vectors before its word embeddings, and a linear head."""

    def __init__(self, model_name, num_labels=2, type="full"):
        super().__init__()
        self.model = AutoModel.from_pretrained(model_name)
        self.type = type
        self.num_labels = num_labels
        self.prefix = nn.Parameter(torch.randn(prefix_length, self.model.config.hidden_size).to("cuda"))
        self.classifier = nn.Linear(self.model.config.hidden_size, num_labels)

    def forward(self, input_ids, attention_mask):
        """Ids (rows, length) and mask (rows, length) -> {"logits": (rows, num_labels)}."""
        if self.type == "full":
            # TODO: run the encoder, take the mean of its last hidden states over all positions, and run the head
            raise NotImplementedError("forward of the full model")
        elif self.type == "head":
            # TODO: what is computed is the same; what is trained is not
            raise NotImplementedError("forward of the head-tuned model")
        elif self.type == "prefix":
            # TODO: look up the word embeddings, put one copy of the prefix before those of each row, let the attention
            # mask grow by as many ones, and run the encoder on `inputs_embeds`; then as above, over all positions
            raise NotImplementedError("forward of the prefix-tuned model")
        return {"logits": logits}


class BoolQADataset(torch.utils.data.Dataset):
    """Questions, each with a passage that answers it, and the answers True or False."""

    def __init__(self, passages, questions, answers, tokenizer, max_len):
        self.passages = passages
        self.questions = questions
        self.answers = answers
        self.tokenizer = tokenizer
        self.max_len = max_len

    def __len__(self):
        return len(self.answers)

    def __getitem__(self, index):
        """One row: input_ids (max_len,), attention_mask (max_len,) and labels (), 1 for True."""
        # TODO: as in base_classification.py
        raise NotImplementedError("encode the row")


def evaluate_model(model, dataloader, device):
    """The share of rows that the model gets right: {"accuracy": x}."""
    accuracy = evaluate.load("accuracy")
    model.eval()
    for batch in dataloader:
        # TODO: as in base_classification.py
        raise NotImplementedError("ask the model")

        accuracy.add_batch(predictions=torch.argmax(logits, dim=1), references=batch["labels"])
    return accuracy.compute()


def train(mymodel, num_epochs, train_dataloader, validation_dataloader, test_dataloder, device, lr, model_name):
    """Train what mymodel.type says, in place, and plot the accuracies after each epoch."""
    optimizer = torch.optim.AdamW(mymodel.parameters(), lr=lr)
    if mymodel.type == "head":
        # TODO: `custom_optimizer`, an AdamW over the parameters of the head
        raise NotImplementedError("the optimizer of the head-tuned model")
    elif mymodel.type == "prefix":
        # TODO: `custom_optimizer`, an AdamW over the prefix and the parameters of the head
        raise NotImplementedError("the optimizer of the prefix-tuned model")

    lr_scheduler = get_scheduler(
        "linear", optimizer=optimizer, num_warmup_steps=50, num_training_steps=len(train_dataloader) * num_epochs
    )
    loss = torch.nn.CrossEntropyLoss()
    train_accuracies, dev_accuracies = [], []

    for epoch in range(num_epochs):
        mymodel.train()  # in each epoch: evaluate_model leaves the model in evaluation mode
        train_accuracy = evaluate.load("accuracy")
        for batch in tqdm(train_dataloader):
            # TODO: compute the `logits` and the loss, and go backward
            raise NotImplementedError("train on the batch")

            if mymodel.type == "full" or mymodel.type == "auto":
                optimizer.step()
                lr_scheduler.step()
                optimizer.zero_grad()
            else:
                custom_optimizer.step()
                lr_scheduler.step()
                custom_optimizer.zero_grad()
            train_accuracy.add_batch(predictions=torch.argmax(logits, dim=1), references=batch["labels"])

        train_accuracies.append(train_accuracy.compute()["accuracy"])
        dev_accuracies.append(evaluate_model(mymodel, validation_dataloader, device)["accuracy"])
        print(f"epoch {epoch + 1}: train {train_accuracies[-1]}, dev {dev_accuracies[-1]}")
        print(f"epoch {epoch + 1}: test {evaluate_model(mymodel, test_dataloader, device)}")

    plot(train_accuracies, dev_accuracies, f"{model_name.replace('/', '_')}_{mymodel.type}")


def plot(train_accuracies, dev_accuracies, name):
    """Draw both curves into name.png."""
    plt.figure()
    plt.plot(train_accuracies, label="train")
    plt.plot(dev_accuracies, label="dev")
    plt.xlabel("epoch")
    plt.ylabel("accuracy")
    plt.legend()
    plt.savefig(f"{name}.png")
    plt.close()


def pre_process(model_name, batch_size, device, small_subset, type="auto"):
    """The model on its device, and the loaders of training, dev and test data."""
    dataset = load_dataset("boolq").shuffle()
    if small_subset:  # the same ten rows three times, to see whether the program can learn at all
        parts = [dataset["train"][:10]] * 3
    else:  # the answers of the real test data are not public: the end of the training data replaces it
        parts = [dataset["train"][:8000], dataset["validation"], dataset["train"][8000:]]

    tokenizer = AutoTokenizer.from_pretrained(model_name)
    loaders = []
    for part in parts:
        rows = BoolQADataset(list(part["passage"]), list(part["question"]), list(part["answer"]), tokenizer, 128)
        loaders.append(DataLoader(rows, batch_size=batch_size))

    if type == "auto":
        model = AutoModelForSequenceClassification.from_pretrained(model_name, num_labels=2)
        model.type = type
    else:
        model = CustomModelforSequenceClassification(model_name, num_labels=2, type=type)
    model.to(device)
    return (model, *loaders)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--small_subset", action="store_true", help="train, validate and test on the same ten rows")
    parser.add_argument("--num_epochs", type=int, default=5)
    parser.add_argument("--lr", type=float, default=5e-5)
    parser.add_argument("--batch_size", type=int, default=32)
    parser.add_argument("--device", type=str, default="cuda")
    parser.add_argument("--model", type=str, default="bert-base-uncased")
    parser.add_argument("--type", type=str, default="auto", choices=["auto", "full", "head", "prefix"])
    parser.add_argument("--prefix_length", type=int, default=128)
    args = parser.parse_args()
    prefix_length = args.prefix_length

    model, train_dataloader, validation_dataloader, test_dataloader = pre_process(
        args.model, args.batch_size, args.device, args.small_subset, args.type
    )
    train(
        model,
        args.num_epochs,
        train_dataloader,
        validation_dataloader,
        test_dataloader,
        args.device,
        args.lr,
        args.model,
    )
    print(f"DEV {evaluate_model(model, validation_dataloader, args.device)}")
    print(f"TEST {evaluate_model(model, test_dataloader, args.device)}")
