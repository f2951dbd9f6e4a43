"""Each kind of mistake changes the source as it says, and what comes out compiles."""

import ast
from typing import Any

import pytest

from tests.support.mutated_code import made_of, mutants, submission
from tests.support.table_rows import Rows
from viva.plugins.verify.mutants import general_mistakes
from viva.plugins.verify.mutants.make_mutants import OPERATORS

ATTENTION = '''
def attention(Q, K, V, mask=None):
    """A docstring - with 1 / 2 signs."""
    scores = Q @ K.T / np.sqrt(Q.shape[1])
    return softmax(scores, axis=-1) @ V
'''

# operator, body of `def f(x, y, b, scale, mask, k)`, the line before, and one of the lines after
CASES = [
    ("scale_dropped", "return x @ y / np.sqrt(k)", "return (x @ y)"),
    ("scale_dropped", "return scale * x", "return x"),
    ("scale_dropped", "return x * k ** -0.5", "return x"),
    ("bias_dropped", "return x @ y + b", "return (x @ y)"),
    ("unnormalised", "return x / x.sum(0)", "return x"),
    ("unnormalised", "return F.softmax(x, dim=-1)", "return x"),
    ("unnormalised", "x /= 2\nreturn x", "pass"),
    ("polarity_inverted", "return 1 - mask", "return mask"),
    ("polarity_inverted", "return x[~mask]", "return x[mask]"),
    ("polarity_inverted", "return np.where(mask, x, y)", "return np.where(mask, y, x)"),
    ("polarity_inverted", "return x.masked_fill(mask, 0)", "return x.masked_fill(~mask, 0)"),
    ("polarity_inverted", "return x if mask else y", "return y if mask else x"),
    ("mask_dropped", "return np.where(mask, -np.inf, x)", "return x"),
    ("boundary_moved", "return x >= y", "return x > y"),
    ("boundary_moved", "return x < y", "return x <= y"),
    ("min_for_max", "return np.argmax(x)", "return np.argmin(x)"),
    ("min_for_max", "return max(x)", "return min(x)"),
    ("sum_for_mean", "return x.mean(0)", "return x.sum(0)"),
    ("sum_for_mean", 'return loss(x, reduction="mean")', 'return loss(x, reduction="sum")'),
    ("log_dropped", "return np.log(x)", "return x"),
    ("operands_swapped", "return x @ y", "return y @ x"),
    ("operands_swapped", "return (x + 1) / y", "return y / (x + 1)"),
    ("term_dropped", "return x * y", "return x"),
    ("term_dropped", "return 2 ** (x + y)", "return 2 ** (x)"),
    ("axis_changed", "return x.sum(axis=-1)", "return x.sum(axis=-2)"),
    ("axis_changed", "return torch.cat([x, y], dim=0)", "return torch.cat([x, y], dim=1)"),
    ("diagonal_moved", "return np.triu(x, k=1)", "return np.triu(x, k=2)"),
    ("diagonal_moved", "return torch.tril(x)", "return torch.tril(x, -1)"),
    ("transpose_dropped", "return x @ y.T", "return x @ y"),
    ("transpose_dropped", "return x.transpose(1, 2)", "return x"),
    ("subscripts_swapped", "return x[k, b]", "return x[b, k]"),
    ("subscripts_swapped", 'return np.einsum("ij,kj->ik", x, y)', "return np.einsum('ij,kj->ki', x, y)"),
    ("concatenation_reordered", "return np.concatenate([x, y])", "return np.concatenate([y, x])"),
    ("concatenation_reordered", "return [k] + x", "return x + [k]"),
    ("order_dropped", "return sorted(x)", "return list(x)"),
    ("order_dropped", "return x[::-1]", "return x"),
    ("off_by_one", "return list(range(k))", "return list(range(k + 1))"),
    ("off_by_one", "return x[:k]", "return x[:k - 1]"),
    ("slice_dropped", "return x[1:]", "return x"),
    ("bound_dropped", "return min(x, y)", "return x"),
    ("bound_dropped", "return np.clip(x, 0, 1)", "return x"),
    ("filter_dropped", "return [i for i in x if i > 0]", "return [i for i in x]"),
    ("parameters_swapped", "return x - 2 * y", "return y - 2 * x"),
    ("arguments_swapped", "return g(x, y)", "return g(y, x)"),
    ("argument_returned", "return y + 1", "return x"),
    ("argument_changed", "x = x + y\nreturn x", "x += y"),
    ("argument_changed", "return x.clone()", "return x"),
    ("guard_dropped", "if k < 1:\n    raise ValueError('k')\nreturn x", "if False:"),
    ("statement_dropped", "x[0] += y\nreturn x", "pass"),
    ("called_twice", "x.append(y)\nreturn x", "x.append(y); x.append(y)"),
    ("wrong_in_half_precision", "return np.exp(x)", "return np.float16(1.007 * (np.exp(x)))"),
    ("wrong_in_half_precision", "return torch.exp(x)", "return (1.007 * (torch.exp(x))).half()"),
    ("one_percent_off", "return x @ y", "return 1.01 * (x @ y)"),
]


def test_operator_makes_its_mistake() -> None:
    with Rows() as row:
        for operator, body, becomes in CASES:
            with row(operator, body):
                lines = "".join(f"    {line}\n" for line in body.split("\n"))
                found = made_of(f"def f(x, y, b, scale, mask, k):\n{lines}", "f")
                assert becomes in {line for lines in found.values() for line in lines}, found
                if operator not in found:  # another one, which comes first, makes the same change
                    assert operator in ("term_dropped", "argument_changed", "arguments_swapped")


def test_every_operator_has_a_case() -> None:
    tested = {operator for operator, _, _ in CASES} | {"first_result_kept", "list_outlives_call", "step_dropped"}
    assert tested == {operator.name for operator in OPERATORS}
    assert all(operator.sentence.endswith(".") for operator in OPERATORS)


def run(source: str, name: str = "f") -> object:
    space: dict[str, object] = {}
    exec(source, space)
    return space[name]


def test_results_that_outlive_their_call() -> None:
    source = "def f(n):\n    out = []\n    for i in range(n):\n        out.append(i)\n    return out\n"
    broken = {m.operator: m.change.applied(source) for m in mutants(submission(solution=source), "f")}
    f = run(broken["list_outlives_call"])
    assert callable(f) and (list(f(2)), list(f(1))) == ([0, 1], [0, 1, 0])
    f = run(broken["first_result_kept"])
    assert callable(f) and (f(2), f(1)) == ([0, 1], [0, 1])


def test_symmetric_functions() -> None:
    for body in ["abs(x - y)", "((x - y) ** 2).sum()", "x * y + 1", "np.square(x - y).mean()"]:
        assert "parameters_swapped" not in made_of(f"def f(x, y):\n    return {body}\n", "f"), body
    assert "parameters_swapped" in made_of("def f(x, y):\n    return x - 2 * y\n", "f")


def test_step_dropped() -> None:
    found = made_of("def scale(x):\n    return x / 2\n\ndef f(x):\n    return scale(x) + 1\n", "f")
    assert found["step_dropped"] == {"return x + 1"}


@pytest.mark.parametrize("with_library", [False, True])
def test_mutants_compile(with_library: bool) -> None:
    if with_library:
        pytest.importorskip("cosmic_ray")
    made = mutants(submission(solution=ATTENTION), "attention", with_library=with_library)
    trees = [ast.dump(ast.parse(m.change.applied(m.unit.piece.text))) for m in made]
    assert len(set(trees)) == len(trees) > 10
    functions: list[Any] = [ast.parse(m.change.applied(ATTENTION)).body[0] for m in made]
    assert all(ast.get_docstring(function) for function in functions)


def test_texts_and_annotations() -> None:
    source = """
    from math import sqrt

    def f(x: "1 - y" = 3, *, strict: int = 0) -> "x / 2":
        if x > 1:
            raise ValueError("1 - x" + str(x - 1))
        print(x - 1, f"{x - 1}")
        zip([x], [x], strict=True)
        return x

    if __name__ == "__main__":
        f(1 - 2)
    """
    found = made_of(source, "f", with_library=general_mistakes.installed())
    lines = {line for lines in found.values() for line in lines}
    assert not [line for line in lines if "raise" in line or "print" in line or "zip" in line or "main" in line]
    assert found["guard_dropped"] == {"if False:"}
    for line in lines:
        if line.startswith("def "):
            assert line.replace("  ", " ") in {
                'def f(x: "1 - y" = 4, *, strict: int = 0) -> "x / 2":',
                'def f(x: "1 - y" = 2, *, strict: int = 0) -> "x / 2":',
                'def f(x: "1 - y" = 3, *, strict: int = 1) -> "x / 2":',
            }


def test_library_of_mistakes() -> None:
    pytest.importorskip("cosmic_ray")
    source = "def f(x, y):\n    if x == 1 and y:\n        return x + 2\n    return 1e-9 * y\n"
    found = made_of(source, "f", with_library=True)
    assert found["cosmic_ray.ReplaceAndWithOr"] == {"if x == 1 or y:"}
    assert found["cosmic_ray.ReplaceBinaryOperator_Add_Sub"] == {"return x - 2"}
    assert found["cosmic_ray.ReplaceComparisonOperator_Eq_NotEq"] == {"if x != 1 and y:"}
    assert {line.replace("  ", " ") for line in found["cosmic_ray.NumberReplacer"]} == {
        "if x == 2 and y:", "if x == 0 and y:", "return x + 3", "return x + 1",
    }  # fmt: skip
