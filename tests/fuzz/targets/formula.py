"""Formulas: any text is read or refused soon, and what was read and is written out has the same value."""

import math
from collections.abc import Iterator

from tests.fuzz.target import Broken, Target, expect, expect_sentence
from viva.compare.answers.formula_text import parse
from viva.compare.answers.formula_tree import Constant, Tree, Variable, evaluate, variables_of
from viva.compare.answers.unreadable import Unreadable
from viva.grading import Disagreement, agree_formula

QUESTIONS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("2*d + 2", ("d",), ()),
    ("h * (sigma**4 + 2 * mu**2 * sigma**2)", ("h", "mu", "sigma"), ()),
    ("O(M**2 * k)", ("M", "N", "k"), ("M*k**2", "M*k", "N")),
    ("x1*x2 + p_1*d_model", ("x1", "x2", "p_1", "d_model", "e"), ()),
    ("1538", (), ()),
)
POINTS = (1.75, 2.5, 3.25, 0.5, 1.25)


def check(data: bytes) -> None:
    """The first byte chooses the question."""
    expected, variables, lower = QUESTIONS[data[0] % len(QUESTIONS) if data else 0]
    text = data[1:].decode("utf-8", "surrogateescape" if data[:1] > b"\x7f" else "replace")
    try:
        agree_formula(text, expected, variables, lower=lower, hints={"half of it": expected} if not lower else None)
    except Disagreement as error:
        expect_sentence(str(error))
    for tight in (False, True):
        try:
            tree = parse(text, variables, tight=tight)
        except Unreadable as why:
            expect_sentence(str(why))
            continue
        _check_tree(tree, variables)


def _check_tree(tree: Tree, variables: tuple[str, ...]) -> None:
    expect(variables_of(tree) <= set(variables), "a letter that the question does not have")
    values = dict(zip(variables, POINTS, strict=False))
    found = evaluate(tree, values)
    expect(type(found) is float, "a value that is no float")
    text = written(tree)
    try:
        again = evaluate(parse(text, variables), values)
    except Unreadable as why:
        if any(words in str(why) for words in ("too long", "longer", "too many", "too deeply")):
            return
        raise Broken(f"written out as {text!r}, it cannot be read: {why}") from why
    expect(found == again or (found != found and again != again), f"{found} and, written out as {text!r}, {again}")


def written(tree: Tree) -> str:
    """The formula with a bracket around everything, and a sign between all."""
    if isinstance(tree, Constant):
        return f"({tree.value:.17g})" if math.isfinite(tree.value) else "(1e200*1e200)"
    if isinstance(tree, Variable):
        return f"({tree.name})"
    operands = [written(operand) for operand in tree.operands]
    if tree.operator == "negative":
        return f"(-{operands[0]})"
    if tree.operator.isalnum():
        return f"{tree.operator}({','.join(operands)})"
    return f"({operands[0]}{tree.operator}{operands[1]})"


TEXTS = (
    "2*d+2", "2(d+1)", "f = 2d+2", "2d+2 = 2(d+1)", "$2 \\cdot d + 2$", "\\(2d+2\\)", "√4·d + 2", "max(2d+2, 1)",
    "２d+２", "h(σ⁴+2μ²σ²)", "h \\sigma^{4} + 2h\\mu^{2}\\sigma^{2}", "h\\left(\\sigma^4 + 2\\mu^2\\sigma^2\\right)",
    "H·Sigma**4", "O(M²k)", "$\\mathcal{O}\\left(M^2 k\\right)$", "\\Theta(M^2 k)", "О(M²k)", "𝒪(M²k + Mk²)",
    "O[M^2k]", "time = O(3M²k)", "x_1·x_2 + p₁·d_{\\text{model}}", "x1x2+p1 d_model", "1,538", "2*769",
    "\\frac{n^2}{G}", "½ d^(-1)", "1½", "⁷/₁₅", "9**9**9**9**9", "e^e^e^e^e", "-" * 60 + "d", "(" * 45 + "d",
    "exp(exp(d))", "floor(1e308*9)", "log log d", "d^-(d)", "1/(d-d)", "(0-1)^0.5", "sqrt(d, 2)",
    "\\min\\{T, 2^n\\}", "λx.x", "__import__('os')", "d\0", "1e999", ".5e-3d", "ceil(d/0)",
)  # fmt: skip


def seeds() -> Iterator[bytes]:
    """Formulas of the tests, each for every question that has its letters or not."""
    for at, text in enumerate(TEXTS):
        yield bytes([at % len(QUESTIONS)]) + text.encode()
        yield b"\0" + text.encode()


WORDS = (
    "\\frac{", "\\left(", "\\right)", "\\cdot", "\\sqrt", "\\mathcal{O}", "\\text{", "_{", "^{", "**", "sqrt",
    "log2(", "log_10", "exp(", "max(", "min(", "floor", "ceil", "abs(", "lambda", "sigma", "²", "⁴", "₁", "½", "⁄",
    "√", "·", "×", "≈", "≡", "=", "σ", "Θ", "O(", "\u200b", "\u00a0", "−", "e", "pi", "1e308", "d_model", "M", "k",
)  # fmt: skip
TARGET = Target(check, seeds, WORDS, longest=600)
