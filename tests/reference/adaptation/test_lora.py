"""LoRA and soft prompts against torch's autograd and peft; the registry of adapters against its definition."""

from typing import Any

import numpy as np
import pytest
import torch
import transformers
from numpy.typing import NDArray

from reference.adaptation.adapter_registry import AdapterRegistry
from reference.adaptation.lora import LoRALinear, lora_delta, merge
from reference.adaptation.soft_prompt import add_soft_prompt
from reference.bert.encoder import draw_weights, embed, encode

Array = NDArray[np.float64]


def normal(rng: np.random.Generator, *shape: int) -> Array:
    return rng.standard_normal(shape)


class OneLinear(torch.nn.Module):
    """The smallest model that peft adapts."""

    def __init__(self, W: Array) -> None:
        super().__init__()
        self.proj = torch.nn.Linear(W.shape[1], W.shape[0], bias=False, dtype=torch.float64)
        self.proj.weight.data = torch.from_numpy(W.copy())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.proj(x)
        return result


def peft_layer(W: Array, r: int, alpha: int) -> tuple[torch.nn.Module, torch.nn.Parameter, torch.nn.Parameter]:
    """peft's model, its factor next to the input (r, k), and its factor next to the output (d, r)."""
    from peft import LoraConfig, get_peft_model  # late: collecting all tests need not wait for it

    config = LoraConfig(r=r, lora_alpha=alpha, target_modules=["proj"], lora_dropout=0.0, bias="none")
    model = get_peft_model(OneLinear(W), config).double()
    named = dict(model.named_parameters())
    near_input = next(p for name, p in named.items() if "lora_A" in name)
    near_output = next(p for name, p in named.items() if "lora_B" in name)
    return model, near_input, near_output


def test_lora_equals_autograd() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        d, k, n = (int(size) for size in rng.integers(2, 9, 3))
        r, alpha = int(rng.integers(1, min(d, k) + 1)), float(rng.uniform(0.5, 8))
        layer = LoRALinear(normal(rng, d, k), r, alpha, rng)
        layer.B[...] = normal(rng, r, k)
        x, upstream = normal(rng, n, k), normal(rng, n, d)
        W, A, B = (torch.from_numpy(m.copy()).requires_grad_() for m in (layer.W, layer.A, layer.B))
        output = torch.nn.functional.linear(torch.from_numpy(x), W + alpha / r * A @ B)
        torch.autograd.backward((output * torch.from_numpy(upstream)).sum())
        np.testing.assert_allclose(layer.forward(x), output.detach().numpy(), atol=1e-12)
        assert A.grad is not None and B.grad is not None
        np.testing.assert_allclose(layer.gradients(x, upstream)[0], A.grad.numpy(), atol=1e-12)
        np.testing.assert_allclose(layer.gradients(x, upstream)[1], B.grad.numpy(), atol=1e-12)


def test_lora_equals_peft() -> None:
    """peft's lora_B (d, r) is our A, its lora_A (r, k) our B; values, gradients, merged weight and parameter counts."""
    rng = np.random.default_rng(2)
    for d, k, r, alpha in [(5, 7, 2, 6), (6, 4, 3, 3), (4, 4, 1, 8)]:
        W, x, upstream = normal(rng, d, k), normal(rng, 3, k), normal(rng, 3, d)
        model: Any
        model, near_input, near_output = peft_layer(W, r, alpha)
        layer = LoRALinear(W, r, alpha, rng)
        layer.B[...] = normal(rng, r, k)
        near_output.data, near_input.data = torch.from_numpy(layer.A.copy()), torch.from_numpy(layer.B.copy())
        output = model(torch.from_numpy(x))
        torch.autograd.backward((output * torch.from_numpy(upstream)).sum())
        np.testing.assert_allclose(layer.forward(x), output.detach().numpy(), atol=1e-12)
        assert near_output.grad is not None and near_input.grad is not None
        np.testing.assert_allclose(layer.gradients(x, upstream)[0], near_output.grad.numpy(), atol=1e-12)
        np.testing.assert_allclose(layer.gradients(x, upstream)[1], near_input.grad.numpy(), atol=1e-12)
        trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
        assert trained == sum(p.size for p in layer.parameters()) == r * (d + k)
        merged = model.merge_and_unload().proj.weight.detach().numpy()
        np.testing.assert_allclose(merge(W, layer.A, layer.B, alpha), merged, atol=1e-12)
        np.testing.assert_array_equal(layer.W, W)  # merging leaves the weight alone


def test_lora_starts_at_the_base() -> None:
    """As peft does; peft's zero factor is the one next to the output, ours the one next to the input."""
    rng = np.random.default_rng(3)
    W, x, upstream = normal(rng, 5, 7), normal(rng, 4, 7), normal(rng, 4, 5)
    layer = LoRALinear(W, 2, 6.0, rng)
    assert (lora_delta(layer.A, layer.B, 6.0) == 0).all()
    np.testing.assert_array_equal(layer.forward(np.eye(7)).T, W)
    with_respect_to_a, with_respect_to_b = layer.gradients(x, upstream)
    assert (with_respect_to_a == 0).all() and (with_respect_to_b != 0).all()
    model, near_input, near_output = peft_layer(W, 2, 6)
    output = model(torch.from_numpy(x))
    assert torch.equal(output, torch.from_numpy(x) @ torch.from_numpy(W).T)
    (output * torch.from_numpy(upstream)).sum().backward()
    assert near_input.grad is not None and near_output.grad is not None
    assert (near_input.grad == 0).all() and (near_output.grad != 0).all()


def test_invalid_rank() -> None:
    for r in (0, 4):
        with pytest.raises(ValueError, match=f"the rank is {r}; expected 1 to 3"):
            LoRALinear(np.ones((3, 5)), r, 1.0)


def test_registry_reverts_exactly() -> None:
    rng = np.random.default_rng(7)
    W = normal(rng, 6, 5)
    registry = AdapterRegistry(W)
    versions, expected = [registry.weight()], W
    for r in (1, 2, 3):
        A, B = normal(rng, 6, r), normal(rng, r, 5)
        registry.accept(A, B, 2.0)
        expected = expected + 2.0 / r * A @ B
        np.testing.assert_allclose(registry.weight(), expected, atol=1e-12)
        versions.append(registry.weight())
    assert registry.stored_floats() == 6 * 5 + (1 + 2 + 3) * (6 + 5)
    for version in reversed(versions[:-1]):
        registry.revert()
        np.testing.assert_array_equal(registry.weight(), version)
    np.testing.assert_array_equal(registry.weight(), W)
    with pytest.raises(IndexError):
        registry.revert()


V, D, LAYERS, D_FF, POSITIONS, HEADS, LENGTH = 11, 8, 2, 12, 20, 2, 5


@pytest.mark.filterwarnings(
    "ignore:`is_gradient_checkpointing`:FutureWarning"
)  # peft asks transformers by its old name
def test_soft_prompt_equals_peft() -> None:
    """The same hidden states, and the prompt alone gets a gradient."""
    from peft import PromptTuningConfig, TaskType, get_peft_model  # late: collecting all tests need not wait for it

    rng = np.random.default_rng(5)
    weights = draw_weights(rng, V, D, LAYERS, D_FF, POSITIONS)
    config = transformers.BertConfig(
        vocab_size=V,
        hidden_size=D,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=D_FF,
        max_position_embeddings=POSITIONS,
    )
    bert = transformers.BertModel(config).double()  # before the weights: float32 would round them
    bert.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()}, strict=False)
    adapted = get_peft_model(bert, PromptTuningConfig(task_type=TaskType.FEATURE_EXTRACTION, num_virtual_tokens=LENGTH))
    adapted = adapted.double().eval()
    trained = [parameter for parameter in adapted.parameters() if parameter.requires_grad]
    assert [tuple(parameter.shape) for parameter in trained] == [(LENGTH, D)]

    ids, mask = rng.integers(V, size=(3, 6)), np.array([[1] * 6, [1, 1, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0]])
    output = adapted(input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask)).last_hidden_state
    with_prompt, read = add_soft_prompt(embed(weights, ids), mask, trained[0].detach().numpy())
    hidden = encode(weights, with_prompt, read, HEADS)
    np.testing.assert_allclose(hidden[read == 1], output.detach().numpy()[read == 1], atol=1e-10)

    output[:, 0].sum().backward()
    assert all((parameter.grad is None) == (parameter is not trained[0]) for parameter in adapted.parameters())
    assert trained[0].grad is not None and float(trained[0].grad.abs().min()) > 0


def test_soft_prompt_shapes() -> None:
    embeddings, mask = add_soft_prompt(np.zeros((2, 3, 4)), [[1, 1, 0], [1, 0, 0]], np.ones((2, 4)))
    assert embeddings.shape == (2, 5, 4)
    assert embeddings[:, :2].min() == 1 and embeddings[:, 2:].max() == 0
    assert mask.tolist() == [[1, 1, 1, 1, 0], [1, 1, 1, 0, 0]]
