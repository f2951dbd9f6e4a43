# ruff: noqa: E501  (tables of answers, one group to a line)
"""Formulas by value; nothing is executed, and nothing takes long."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.table_rows import Rows
from viva.compare.answers.formula_text import parse
from viva.compare.answers.formula_tree import evaluate
from viva.grading import Disagreement, agree_formula

VARIANCE = "h * (sigma**4 + 2 * mu**2 * sigma**2)"
RANGES = {"h": (1.0, 64.0), "mu": (-2.0, 2.0), "sigma": (0.1, 3.0)}

RIGHT: list[tuple[str, Any, list[Any]]] = [
    ("2*d + 2", ["d"], [
        "2*d+2", "2d+2", "2 d + 2", "2(d+1)", "(d+1)*2", "2·d+2", "2×d + 2", "2∗d+2",
        "d+d+2", "2D+2", "$2d + 2$", "2 \\cdot d + 2", "\\(2d+2\\)",
        "2\\,d+2", "2 + 2*d", "2{d}+2", "2[d+1]", "4d/2+2", "2d − −2", "+2d+2", "2d+2.0", "2.d+2", "2e0*d+2", "２d+2",
        "√4·d + 2", "sqrt(4)d+2", "2d^1+2", "2d¹+2", "log2(4) d + 2", "max(2d+2, 1)", "abs(-2d-2)", "2*d+2 ", "\n2d+2\n",
        "d*2+2", "2d + 2e/e", "O(2d+2)", "2 x d + 2", "**2d+2**", r"\boxed{2d+2}", "4*d//2 + 2",
    ]),
    (VARIANCE, RANGES, [
        "h(σ⁴+2μ²σ²)", "hσ⁴ + 2hμ²σ²", "h*(sigma^4+2*mu^2*sigma^2)", "h \\sigma^{4} + 2h\\mu^{2}\\sigma^{2}",
        "h\\left(\\sigma^4 + 2\\mu^2\\sigma^2\\right)", "H·Sigma**4 + 2·H·Mu**2·Sigma**2", "hσ²(σ²+2µ²)", "σ^4h+2σ^2μ^2h",
        "h((sigma^2+mu^2)^2 - mu^4)",
    ]),
    ("n**2 / G", {"n": (8.0, 512.0), "G": (2.0, 8.0)}, [
        "n^2/G", "n²/G", "O(n²/G)", "$O(n^2/G)$", "\\frac{n^2}{G}", "\\dfrac{n^2}{G}", "$\\mathcal{O}(\\frac{n^2}{G})$",
        "G(n/G)²", "G*(n/G)^2", "n*n/G", "1/G n^2", "n²÷G", "n^2/g", "n·n⁄G", "O\\left(\\frac{n^2}{G}\\right)", "n**2*G**-1",
    ]),
    ("d*k + 3*r*(d+k)", ["d", "k", "r"], ["dk+3r(d+k)", "dk + 3rd + 3rk", "kd+3(dr+kr)", "d k + 3 r (d + k)"]),
    ("n*(n+1)/2", ["n"], ["n*(n+1)//2", "½ n² + ½ n"]),
    ("sqrt(d)", ["d"], ["np.sqrt(d)", "math.sqrt(d)", r"\sqrt[2]{d}", "pow(d, 0.5)", r"d^{\frac12}", r"d^\frac{1}{2}", "root{2}{d}"]),
    ("d**(1/3)", ["d"], [r"\sqrt[3]{d}", r"\sqrt[3] d", "pow(d, 1/3)"]),
    ("log2(n)", ["n"], ["math.log(n, 2)", "log(n)/log(2)", "np.log2(n)", r"\log_2 n"]),
    ("O(n**2*d)", ["n", "d"], ["O(n^2 d)", "O(n²d)", "Θ(n^2 d)"]),
    ("4*d_model**2", ["d_model"], [r"4d_\text{model}^2", r"4 d_\mathrm{model}^{2}", "**4*d_model**2**", "4d_model^2", "4 d_{model}^2", "(2d_model)²", "4d_{\\text{model}}^{2}", "4D_MODEL²"]),
    ("min(T, (k+1)**n)", {"T": (1, 100), "k": (1, 4), "n": (1, 4)}, ["min(T,(k+1)^n)", "min((1+k)^n, T)"]),
    ("1/(2*d)", ["d"], ["1/2d", "1/(2d)", "0.5/d", "d^-1/2", "½/d", "\\frac{1}{2d}", "½ d^(-1)"]),
    ("d/2", ["d"], ["1/2d", "d/2", "½d", "0.5d", ".5 d", "1/2 * d"]),
    ("N*h_1", ["N", "h_1"], ["N h₁", "N*h_1", "Nh_1"]),
    ("O(n*log2(n))", ["n"], ["n log n", "O(n log n)", "O(3n ln n)", "O(n·log₂(n))", "Θ(n log2 n)"]),
    ("O(M**2 * k)", ["M", "N", "k"], [
        "O(M²k)", "M^2k", "M*M*k", "2M²k", "O (k M^2)", "\\mathcal{O}(M^2k)", "$\\mathcal{O}\\left(M^2 k\\right)$", "\\(O(M^2k)\\)",
        "\\mathrm{O}(M^2k)", "\\Theta(M^2 k)", "`O(M^2k)`", "O[M^2k]", "О(M²k)", "Ο(M²k)", "𝒪(M²k)", "O(M^2k).", "M ˆ2 k",
    ]),
    ("x1*x2 + p1*p2", ["x1", "x2", "p1", "p2"], ["x_1·x_2 + p_1·p_2", "x₁x₂+p₁p₂", "x_1 \\cdot x_2 + p_{1} \\cdot p_{2}", "x1x2+p1p2.",
        "x1 . x2 + p1.p2", "x1.T @ x2 + p1ᵀ@p2", "x_1^T @ x_2 + p_1 @ p_2"]),
    ("min(T, 2**n)", {"T": (1, 100), "n": (1, 8)}, ["\\min\\{T, 2^n\\}", "min{2ⁿ, T}"]),
    ("1538", ["d"], [1538, "1538", "1,538", "2*769", 1538.0]),
    ("exp(beta/sqrt(h))", {"beta": (0, 3), "h": (1, 9)}, ["e^(β/√h)", "exp(beta/sqrt(h))", "e^{\\beta/\\sqrt{h}}"]),
]  # fmt: skip


def test_right_formula() -> None:
    with Rows() as row:
        for expected, variables, answers in RIGHT:
            for answer in answers:
                with row(expected, answer):
                    agree_formula(answer, expected, variables)


@pytest.mark.parametrize("answer", ["we do not need 4d^2 parameters", "it is never 4d^2", "we cannot have 4d^2"])
def test_denied_formula(answer: Any) -> None:
    with pytest.raises(Disagreement):
        agree_formula(answer, "4*d**2", ["d"])


def test_both_spellings_of_an_index() -> None:
    agree_formula("x1 - x_1", "x1 - x_1", ["x1", "x_1"])
    with pytest.raises(Disagreement):
        agree_formula("0*x1", "x1 - x_1", ["x1", "x_1"])


LETTERS = ["M", "N", "k"]
LOWER = ["M*k**2", "M*k", "M**2"]
LOWER_TERMS = [
    "O(M²k)", "O(M²k + Mk²)", "O(M²k) + O(Mk²)", "4Mk^2 + 2M^2k", "O(Mk(M+k))", "M^2 k + M k + M^2",
    "\\mathcal{O}(M^2 k + M k^2)", "O(3M^2k + M^2)",
]  # fmt: skip


def test_order_with_lower_terms() -> None:
    with Rows() as row:
        for answer in LOWER_TERMS:
            with row(answer):
                agree_formula(answer, "O(M**2*k)", LETTERS, lower=LOWER)


OTHER_TERMS = [
    "O(Mk²)", "O(M²k - Mk²)", "O(M²k + N²k)", "O(M²k + M³)", "O(MNk)", "Mk", "O(M²)", "O(M²k²)", "-M^2k", "0",
    "1/(M-M)", "O(M²k + 1)",
]  # fmt: skip


def test_order_with_other_terms() -> None:
    with Rows() as row:
        for answer in OTHER_TERMS:
            with row(answer), pytest.raises(Disagreement, match="not even up to a factor"):
                agree_formula(answer, "O(M**2*k)", LETTERS, lower=LOWER)


HIDDEN_TERMS = [
    "O(M²k + 1e-30 M^9)", "O(M²k + M^9/10^30)", "O(M²k + 10^-25 k³)", "O(M²k + Mk²(1 + 1e-20 k))",
    "O(M²k (1 + 1e-12 M))",
]  # fmt: skip
HIDDEN_BY_MANY_FACTORS = ["O(M²k + 1e-60 M^9)", "O(M²k + M^9/(10^20*10^20))", "O(M²k + (1e-8 M)^9)"]


def test_order_with_hidden_terms() -> None:
    with Rows() as row:
        for answer in HIDDEN_TERMS:
            for lower in ([], LOWER):
                with row(answer), pytest.raises(Disagreement, match="not even up to a factor"):
                    agree_formula(answer, "O(M**2*k)", LETTERS, lower=lower)
        for answer in HIDDEN_BY_MANY_FACTORS:
            with row(answer), pytest.raises(Disagreement, match="too large or too small for an order of growth"):
                agree_formula(answer, "O(M**2*k)", LETTERS)
    agree_formula("O(M²k/1000 + 1000 Mk²)", "O(M**2*k)", LETTERS, lower=["M*k**2"])


def test_lower_terms_are_for_orders() -> None:
    with pytest.raises(Disagreement):
        agree_formula("M²k + Mk²", "M**2*k", LETTERS, lower=["M*k**2"])


WRONG: list[tuple[str, Any, list[Any]]] = [
    ("n*(n+1)/2", ["n"], ["n*((n+1)//2)", "(n+1)//2*n", "n//2*(n+1)", "n*n//2"]),
    ("sqrt(d)", ["d"], [r"\sqrt[3]{d}", "pow(0.5, d)", r"2\sqrt{d}"]),
    ("log2(n)", ["n"], ["log(2, n)", "log(n)"]),
    ("2*d + 2", ["d"], ["2d", "2d+1", "d+2", "2(d+2)", "d^2+2", "2*d-2", "2", 1538, "d*2*2", "2d+2d", "O(d)", "2^d+2"]),
    (VARIANCE, RANGES, ["h*sigma**4", "h(σ²+μ²)²", "h(σ⁴+μ²σ²)", "σ⁴+2μ²σ²", "h·μ²", "h(σ⁴+2μσ²)"]),
    ("n**2 / G", {"n": (8.0, 512.0), "G": (2.0, 8.0)}, ["n^2", "n/G", "(n/G)^2", "nG", "O(n²)", "n^2/G + 1"]),
    ("O(n**2)", ["n"], ["n", "O(n)", "n^3", "O(n^2 log n)", "n^2 + 1", "0", "-n^2"]),
    ("min(T, (k+1)**n)", {"T": (1, 100), "k": (1, 4), "n": (1, 4)}, ["T", "(k+1)^n", "max(T,(k+1)^n)"]),
]


def test_wrong_formula() -> None:
    with Rows() as row:
        for expected, variables, answers in WRONG:
            for answer in answers:
                with row(expected, answer):
                    with pytest.raises(Disagreement, match=r"is not right(, not even up to a factor)?\.$") as raised:
                        agree_formula(answer, expected, variables)
                    assert str(raised.value).isprintable()


@pytest.mark.parametrize(
    ("answer", "expected", "variables", "feedback"),
    [
        ("d²", "2*d + 2", ["d"], "At d = 3 it gives 9; the right formula gives 8."),
        ("n^2", "n**2/G", {"n": (8, 512), "G": (2, 8)}, "At n = 9, G = 6 it gives 81; the right formula gives 13.5."),
        ("2d+2+1/(d-3)", "2d+2", ["d"], "At d = 3 it has no value; the right formula gives 8."),
    ],
)
def test_counterexample_after_grading(answer: str, expected: str, variables: Any, feedback: str) -> None:
    """Before, a student could try values until the formula is found."""
    with pytest.raises(Disagreement) as raised:
        agree_formula(answer, expected, variables)
    assert str(raised.value) == f"Your answer {answer} is not right."
    assert raised.value.feedback == feedback


def test_hints_and_accepted_formulas() -> None:
    agree_formula("128d+2d+2", "2d+2", ["d"], accept=["130d+2"])
    with pytest.raises(Disagreement, match=r"is not right\.$") as raised:
        agree_formula("d*2", "2d+2", ["d"], hints={"the head is missing": "d", "the bias is missing": "2d"})
    assert raised.value.hint == "the bias is missing"
    assert raised.value.feedback.endswith("It equals a known mistake: the bias is missing.")


FOR_A_PERSON = [
    "2d+2 parameters", "2d+2 weights.", "The number is 2d+2", "2d+2 per head", "2d + 2 = 2(d + 1)", "N = 2d+2 = 1538", "f = 2d+2",
    "2d+2 (with bias)", "2d (weights) + 2 (biases)", "2d+2 (if biased)", "2d+2 or 2d", "2d+2, 2d", "not 2d+2", "about 2d+2",
    "2d + 2 ≈ 2d", "O(2d + 2) time", "d+1 (twice)",
]  # fmt: skip
"""Words, equations and second formulas: whoever marks decides what they say."""


def test_sentence_is_left_to_a_person() -> None:
    with Rows() as row:
        for answer in FOR_A_PERSON:
            with row(answer), pytest.raises(Disagreement, match="cannot be read as a formula") as raised:
                agree_formula(answer, "2*d + 2", ["d"])
            assert raised.value.is_unreadable


def test_message_hides_the_formula() -> None:
    """What a message shows could be typed into the answer."""
    for answer in ("d²", "2d", "3", "2d+2+1/(d-3)"):
        with pytest.raises(Disagreement) as raised:
            agree_formula(answer, "7*d + 28", ["d"])
        assert "expected" not in str(raised.value) and "49" not in str(raised.value)


NO_FORMULA = [
    "", None, "  ", "2x+2", "2d+", "2d)", "(2d", "2 2", "d2", "d 2", "*d", "2**", "d!", "d=", "d if d else 2",
    "__import__('os').system('true')", "d.__class__", "[d for d in d]", "{}", "2d; 3", "d\0", "sin(d)", "f(d)", "min(d)",
    "sqrt(d, 2)", "log", "sqrt", "frac", "𝟚x", "a lot", "two times d plus two", ["2d"], {"d": 2}, True, 1j, float("nan"), "\\",
    "d'", "d_1", "🙂", "d?", "1_000", "d#d", "d%2", "d<2", "d,2", "2,5d",
]  # fmt: skip


def test_no_formula() -> None:
    with Rows() as row:
        for answer in NO_FORMULA:
            with row(answer):
                with pytest.raises(
                    Disagreement, match=r"cannot be read as a formula|is empty; expected a formula"
                ) as raised:
                    agree_formula(answer, "2*d + 2", ["d"])
                assert str(raised.value).isprintable()
                assert len(str(raised.value)) < 400


def test_unknown_letters() -> None:
    with pytest.raises(Disagreement, match=r"`x` is not known; the formula's letters are d, k and r\."):
        agree_formula("d+x", "d+k+r", ["d", "k", "r"])


LONG = [
    "9**9**9**9**9", "9^" * 100 + "9", "(" * 200 + "d" + ")" * 200, "-" * 300 + "d", "d" * 400, "+".join(["d"] * 240),
    "2^" * 30 + "d", "exp(exp(exp(exp(d))))", "1e308*10*d", "1" * 400, "((d^d)^d)^d", "sqrt " * 90 + "d", "d^-(" * 30 + "1" + ")" * 30,
    "e^" * 35 + "d", "\\frac" * 90, "{" * 400, "log log log log d", "x" * 100_000, "1/(d-d)", "(0-1)^0.5", "floor(1e308*9)",
    "O" + " " * 200_000 + "x(", "\\mathcal" + " " * 200_000 + "x(", "=x" * 100_000,
]  # fmt: skip


def test_hostile_formulas_are_fast() -> None:
    with Rows() as row:
        for n, answer in enumerate(LONG):
            with row(n):
                start = time.process_time()
                with pytest.raises(Disagreement):
                    agree_formula(answer, "2*d + 2", ["d"])
                assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("expected", "variables", "problem"),
    [
        ("2*x", ["d"], "cannot be read as a formula"),
        ("log(d)", {"d": (-5, -1)}, "has no value"),
        ("d", {"d": (2, 1)}, "low < high"),
    ],
)
def test_invalid_expected_formula(expected: str, variables: Any, problem: str) -> None:
    for answer in ("2*d", "nonsense", None):
        with pytest.raises(ValueError, match=problem):
            agree_formula(answer, expected, variables)


def test_variable_named_like_a_function() -> None:
    agree_formula("e*max", "e*max", {"e": (1, 2), "max": (3, 4)})
    agree_formula("O(n)", "O*n", {"O": (1, 2), "n": (3, 4)})
    agree_formula("Nn", "N*n", ["N", "n"])
    with pytest.raises(Disagreement):
        agree_formula("n*n", "N*n", ["N", "n"])


numbers = st.integers(0, 9).map(str)
formulas = st.recursive(
    numbers | st.sampled_from("ab"),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from([" + ", " - ", "*", " * ", "/"]), inner).map(
            lambda t: f"({t[0]}{t[1]}{t[2]})"
        ),
        inner.map(lambda x: f"(-{x})"),
        inner.map(lambda x: f"({x})^2"),
    ),
    max_leaves=8,
)


@given(formulas)
def test_values_equal_python(text: str) -> None:
    """Against Python's own evaluation of the same text."""
    values = {"a": 1.7, "b": -0.3}
    try:
        wanted = float(eval(text.replace("^", "**"), {"__builtins__": {}}, values))
    except ZeroDivisionError:
        assert evaluate(parse(text, values), values) != evaluate(parse(text, values), values)
        return
    for tight in (False, True):
        assert evaluate(parse(text, values, tight=tight), values) == pytest.approx(wanted, rel=1e-9, abs=1e-12)
