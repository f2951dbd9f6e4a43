"""Question 3.1: fine-tune a pretrained classifier on BoolQ. Fill in what is marked TODO.

    python base_classification.py --small_subset --num_epochs 20 --lr 1e-4 --batch_size 64
"""

import argparse

import evaluate
import matplotlib.pyplot as plt
import torch
from datasets import load_dataset
from torch.utils.data import DataLoader
from tqdm import tqdm
from transformers import AutoModelForSequenceClassification, AutoTokenizer, get_scheduler


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
        passage = str(self.passages[index])
        question = self.questions[index]
        answer = self.answers[index]

        # TODO: encode question and passage, the question first, so that it is the passage that is cut off.
        # Pad and truncate to max_len; return tensors without a batch dimension.
        raise NotImplementedError("encode the row")


def evaluate_model(model, dataloader, device):
    """The share of rows that the model gets right: {"accuracy": x}."""
    accuracy = evaluate.load("accuracy")
    model.eval()
    for batch in dataloader:
        # TODO: put the batch on the device and ask the model; name its scores (rows, 2) `logits`
        raise NotImplementedError("ask the model")

        accuracy.add_batch(predictions=torch.argmax(logits, dim=1), references=batch["labels"])
    return accuracy.compute()


def train(
    mymodel, num_epochs, train_dataloader, validation_dataloader, test_dataloder, device, lr, small_subset=False
):
    """Train the model in place, and plot its accuracies after each epoch."""
    optimizer = torch.optim.AdamW(mymodel.parameters(), lr=lr)
    lr_scheduler = get_scheduler(
        "linear", optimizer=optimizer, num_warmup_steps=50, num_training_steps=len(train_dataloader) * num_epochs
    )
    loss = torch.nn.CrossEntropyLoss()
    train_accuracies, dev_accuracies = [], []

    for epoch in range(num_epochs):
        mymodel.train()  # in each epoch: evaluate_model leaves the model in evaluation mode
        train_accuracy = evaluate.load("accuracy")
        for batch in tqdm(train_dataloader):
            # TODO: one step. Put the batch on the device, ask the model for its `logits`, compute the loss, go backward,
            # let optimizer and scheduler step, and set the gradients back to zero.
            raise NotImplementedError("train on the batch")

            train_accuracy.add_batch(predictions=torch.argmax(logits, dim=1), references=batch["labels"])

        train_accuracies.append(train_accuracy.compute()["accuracy"])
        dev_accuracies.append(evaluate_model(mymodel, validation_dataloader, device)["accuracy"])
        print(f"epoch {epoch + 1}: train {train_accuracies[-1]}, dev {dev_accuracies[-1]}")
        print(f"epoch {epoch + 1}: test {evaluate_model(mymodel, test_dataloader, device)}")

    plot(train_accuracies, dev_accuracies, "overfit" if small_subset else "base")


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


def pre_process(model_name, batch_size, device, small_subset):
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

    model = AutoModelForSequenceClassification.from_pretrained(model_name, num_labels=2)
    model.to(device)
    return (model, *loaders)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--small_subset", action="store_true", help="train, validate and test on the same ten rows")
    parser.add_argument("--num_epochs", type=int, default=1)
    parser.add_argument("--lr", type=float, default=5e-5)
    parser.add_argument("--batch_size", type=int, default=32)
    parser.add_argument("--device", type=str, default="cuda")
    parser.add_argument("--model", type=str, default="distilbert-base-uncased")
    args = parser.parse_args()

    model, train_dataloader, validation_dataloader, test_dataloader = pre_process(
        args.model, args.batch_size, args.device, args.small_subset
    )
    train(
        model,
        args.num_epochs,
        train_dataloader,
        validation_dataloader,
        test_dataloader,
        args.device,
        args.lr,
        args.small_subset,
    )
    print(f"DEV {evaluate_model(model, validation_dataloader, args.device)}")
    print(f"TEST {evaluate_model(model, test_dataloader, args.device)}")
