"""Use transformers as coursework does, and print what comes of it; run by test_late_parts.py.

The argument `late` imports the libraries as boxes do, any other one as everybody does.
"""

import importlib
import json
import sys
import tempfile
from typing import Any

NAMES = """numpy torch transformers transformers.models.auto.modeling_auto transformers.models.auto.tokenization_auto
transformers.models.bert.modeling_bert transformers.optimization"""
EXPENSIVE = ("torch.distributed.tensor", "torch._dynamo.utils", "scipy.optimize")

if sys.argv[1] == "late":
    from viva.sandbox.guest.process import preload

    preload.import_all(preload.to_import(NAMES.split()))
# How the libraries are imported first is what is compared; `Any`, for their types are partial.
torch: Any
transformers: Any
accelerate: Any
peft: Any
torch, transformers, accelerate, peft = map(importlib.import_module, ("torch", "transformers", "accelerate", "peft"))

SMALL: dict[str, Any] = {"vocab_size": 30, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
QUIET: dict[str, Any] = {"report_to": [], "use_cpu": True, "disable_tqdm": True, "num_train_epochs": 1}
MASK = torch.tensor([[0, 1, 1, 1], [1, 1, 1, 1]])


def main() -> dict[str, Any]:
    """Return all that was found."""
    found = {
        "parts": [name for name in EXPENSIVE if name in sys.modules],
        "version": transformers.__version__,
        "distributed": torch.distributed.is_available(),
    }
    transformers.set_seed(0)
    config = transformers.BertConfig(**SMALL, intermediate_size=16, max_position_embeddings=16)
    model = transformers.BertForSequenceClassification(config)
    rows = [{"input_ids": torch.randint(0, 30, (8,)), "labels": torch.tensor(i % 2)} for i in range(16)]
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        again = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
        pairs = zip(model.state_dict().values(), again.state_dict().values(), strict=True)
        found["loaded"] = all(torch.equal(one, other) for one, other in pairs)
        if transformers.__version__ >= "5":  # the older one stands on newer libraries here, with which it cannot train
            found["losses"] = trained(model, rows, folder)
    found |= generated()
    for how in ("eager", "sdpa"):
        bert = transformers.BertForSequenceClassification._from_config(config, attn_implementation=how).eval()
        found[how] = bert(torch.ones_like(MASK), attention_mask=MASK).logits.tolist()
    found["accelerated"] = accelerated(model, rows)
    data = torch.utils.data
    found["sampled"] = [*data.DistributedSampler(rows, num_replicas=2, rank=0)]
    order = torch.Generator().manual_seed(1)
    loader = data.DataLoader(rows, batch_size=4, shuffle=True, generator=order, num_workers=2)
    found["loaded by workers"] = [batch["input_ids"].tolist() for batch in loader]
    return found


def trained(model: Any, rows: list[dict[str, Any]], folder: str) -> list[float]:
    """Return the losses of two trainers."""
    settings = transformers.TrainingArguments(folder, per_device_train_batch_size=4, **QUIET)
    trainer = transformers.Trainer(model, settings, train_dataset=rows, eval_dataset=rows)
    losses = [trainer.train().training_loss, trainer.evaluate()["eval_loss"]]
    sizes = {"vocab_size": 30, "d_model": 16, "d_ff": 16, "num_layers": 1, "num_heads": 2, "d_kv": 8}
    small = transformers.T5ForConditionalGeneration(transformers.T5Config(**sizes, decoder_start_token_id=0))
    pairs = [{"input_ids": torch.randint(1, 30, (8,)), "labels": torch.randint(1, 30, (4,))} for _ in range(8)]
    settings = transformers.Seq2SeqTrainingArguments(folder, predict_with_generate=True, **QUIET)
    seq2seq = transformers.Seq2SeqTrainer(small, settings, train_dataset=pairs)
    return [*losses, seq2seq.train().training_loss, *seq2seq.predict(pairs).predictions[0].tolist()]


def generated() -> dict[str, Any]:
    """Return what a model generates, with an adapter's gradients and compiled."""
    config = transformers.GPT2Config(vocab_size=30, n_embd=16, n_layer=1, n_head=2, n_positions=32)
    model = transformers.GPT2LMHeadModel(config).eval()
    start = torch.randint(0, 30, (2, 4))
    ways: list[dict[str, Any]] = [{"do_sample": False}, {"num_beams": 3}, {"do_sample": True}]
    texts = [model.generate(start, max_new_tokens=5, pad_token_id=0, **how).tolist() for how in ways]
    compiled = torch.compile(model, backend="eager")(start).logits.shape
    adapted = peft.get_peft_model(model, peft.LoraConfig(r=2, target_modules=["c_attn"], fan_in_fan_out=True))
    adapted(start).logits.sum().backward()
    gradients = sum(parameter.grad is not None for parameter in adapted.parameters())
    return {"texts": texts, "lora": gradients, "compiled": [*compiled]}


def accelerated(model: Any, rows: list[dict[str, Any]]) -> list[Any]:
    """Return what one step of a loop with accelerate gives."""
    accelerator = accelerate.Accelerator(cpu=True)
    prepared, optimizer = accelerator.prepare(model, torch.optim.AdamW(model.parameters()))
    loss = prepared(input_ids=rows[0]["input_ids"][None], labels=rows[0]["labels"][None]).loss
    accelerator.backward(loss)
    optimizer.step()
    return [str(accelerator.distributed_type), accelerator.gather(loss).item()]


print(json.dumps(main()))
