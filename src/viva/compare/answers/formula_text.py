r"""Parses the text of a formula into a tree with its own grammar; no part of the text is ever executed.

It accepts + - * / // ^ **, brackets, implicit multiplication (2d, d(d+1), dk), d², ·, ×, √, Greek letters, functions of
the allowlist, and the LaTeX that students paste: \frac, \cdot, \sqrt, d^{2}, d_{ff}.
"""

import re
import unicodedata
from collections.abc import Collection
from typing import Final

from viva.compare.answers.characters import fractions_written_out, plain_signs, powers_written_out
from viva.compare.answers.formula_tree import CONSTANTS, FUNCTIONS, SEVERAL, Constant, Operation, Tree, Variable
from viva.compare.answers.unreadable import Unreadable
from viva.compare.answers.unwrapped import unwrapped
from viva.compare.show import show

LENGTH: Final = 500
TOKENS: Final = 250
DEPTH: Final = 40
_GREEK: Final = {
    name: spelling.lower()
    for name, spelling in ((c, unicodedata.name(c).rpartition(" LETTER ")[2]) for c in "αβγδεζηθικλμνξπρστυφχψω")
} | {"λ": "lambda", "ϵ": "epsilon", "ϕ": "phi", "ϑ": "theta", "µ": "mu"}
_SPELLINGS: Final = [
    (re.compile(r"\$|\\left|\\right|\\[,;:! ]|\\[()\[\]]|\\displaystyle"), " "),
    (re.compile(r"\\([{}])"), r"\1"),
    (re.compile("[ˆ＾]"), "^"),
    (re.compile(r"\\(?:cdot|times|ast)(?![A-Za-z])"), "*"),
    (re.compile(r"\\div(?![A-Za-z])"), "/"),
    (re.compile(r"\\[dt]frac"), r"\\frac"),
    (re.compile(r"\\frac\s*(\d)\s*(?=[\d{])"), r"\\frac{\1} "),
    (re.compile(r"\\sqrt\s*\[([^\[\]]*)\]"), r" root{\1}"),
    (re.compile(r"_\s*\{\s*(\w+)\s*\}"), r"_\1"),
    (re.compile(r"\\([A-Za-z]+)"), r" \1"),
    (re.compile(r"\s*(?:\.T|\^T|\^\{T\}|\^⊤|ᵀ)?\s*@\s*"), "*"),
    (re.compile(r"(?<=[^\W\d])(\d*)\s*\.\s*(?=[^\W\d])"), r"\1*"),
]
"""LaTeX; x1.T @ x2 and x1 . x2 are products, and 2.5 is a number."""
_TIMES: Final = re.compile(r"(?<=[\w)\]}])\s+x\s+(?=[\w(\[{\\])|(?<=\d)(?<!\b0)x(?=\d)")
"""An x between two factors, if no letter of the question is x."""
_INDEXED: Final = re.compile(r"([^\W\d_]+)(\d+)")
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<number>\d{1,3}(?:,\d{3})+(?![\d,])|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3}(?![\w.]))?)"
    r"|(?P<name>[^\W\d]\w*)|(?P<sign>\*\*|//|[-+*/^(),]))"
)


def parse(text: str, variables: Collection[str], *, tight: bool = False) -> Tree:
    """Return the tree of a formula.

    Args:
        text: what the student or the author wrote.
        variables: the names that may occur.
        tight: read 1/2d as 1/(2d), not as (1/2)d.

    Raises:
        Unreadable: not a formula of these variables; the message says where.
    """
    return _Parser(_tokens(text, variables), tight=tight).whole()


def greek_written_out(text: str) -> str:
    """Return Greek letters as their names: "σ" becomes "sigma"."""
    return "".join(f" {_GREEK[c]} " if c in _GREEK else c for c in text)


def _tokens(text: str, variables: Collection[str]) -> list[tuple[str, str]]:
    if len(text) > LENGTH:
        raise Unreadable(f"it is longer than {LENGTH} characters; write the formula alone")
    text = unwrapped(text).strip(" \t\n`")
    if not any("x" in name.lower() for name in variables):
        text = _TIMES.sub("*", text)
    text = plain_signs(powers_written_out(fractions_written_out(text))).replace("√", " sqrt ")
    for pattern, replacement in _SPELLINGS:
        text = pattern.sub(replacement, text)
    text = greek_written_out(text).translate(str.maketrans("{}[]", "()()")).strip().rstrip(".;,")
    known = _known(variables)
    tokens: list[tuple[str, str]] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise Unreadable(f"the sign {show(text[position:].strip()[:1])} is not part of a formula")
        position = match.end()
        kind = str(match.lastgroup)
        if kind == "name":
            tokens += _names(match["name"], known, variables)
        else:
            tokens.append((kind, match[kind].replace("**", "^") if kind == "sign" else match[kind]))
        if len(tokens) > TOKENS:
            raise Unreadable("it has too many parts")
    if not tokens:
        raise Unreadable("it is empty")
    return tokens


def _known(variables: Collection[str]) -> dict[str, tuple[str, str]]:
    """Return every spelling that means a name; a variable hides a constant or function of the same spelling."""
    known = {name: ("constant", name) for name in CONSTANTS}
    known |= {name: ("function", name) for name in (*FUNCTIONS, "frac", "root", "pow")}
    known |= {"log_2": ("function", "log2"), "log_10": ("function", "log10"), "lg": ("function", "log10")}
    for name in variables:
        known[name] = known[greek_written_out(name).strip().replace(" ", "")] = ("variable", name)
    for name in variables:
        if match := _INDEXED.fullmatch(name):  # x1 is x_1, unless both are letters of the question
            known.setdefault(f"{match[1]}_{match[2]}", ("variable", name))
    return known


def _names(word: str, known: dict[str, tuple[str, str]], variables: Collection[str]) -> list[tuple[str, str]]:
    """Return one name, or several written together: "dk" is d times k."""
    if word in known:
        return [known[word]]
    folded = {spelling.lower(): meaning for spelling, meaning in known.items()}
    if len(folded) == len(known) and word.lower() in folded:
        return [folded[word.lower()]]
    found: list[tuple[str, str]] = []
    rest = word
    while rest:
        prefix = next((rest[:n] for n in range(len(rest), 0, -1) if rest[:n] in known), None)
        if prefix is None:
            raise Unreadable(f"`{word}` is not known; {_allowed(variables)}")
        found.append(known[prefix])
        rest = rest[len(prefix) :]
    return found


def _allowed(variables: Collection[str]) -> str:
    names = sorted(variables)
    if not names:
        return "write numbers only"
    if len(names) == 1:
        return f"the formula's only letter is {names[0]}"
    return f"the formula's letters are {', '.join(names[:-1])} and {names[-1]}"


def _quotient(above: Tree, below: Tree) -> Operation:
    return Operation("/", (above, below))


class _Parser:
    """Recursive descent over the tokens, with one method for each level of precedence."""

    def __init__(self, tokens: list[tuple[str, str]], *, tight: bool) -> None:
        self._tokens = tokens
        self._tight = tight
        self._at = 0
        self._depth = 0

    def whole(self) -> Tree:
        tree = self._sum()
        if self._at < len(self._tokens):
            raise Unreadable(f"`{self._tokens[self._at][1]}` appears where nothing is expected")
        return tree

    def _sum(self) -> Tree:
        self._depth += 1
        if self._depth > DEPTH:
            raise Unreadable("its brackets are nested too deeply")
        tree = self._product()
        while (sign := self._sign("+", "-")) is not None:
            tree = Operation(sign, (tree, self._product()))
        self._depth -= 1
        return tree

    def _product(self) -> Tree:
        tree = self._factor()
        while True:
            if (sign := self._sign("*", "/", "//")) is not None:
                tree = Operation(sign, (tree, self._factor()))
            elif not self._tight and self._starts_factor():
                tree = Operation("*", (tree, self._power()))
            else:
                return tree

    def _factor(self) -> Tree:
        if (sign := self._sign("+", "-")) is not None:
            self._depth += 1
            if self._depth > DEPTH:
                raise Unreadable("it has too many signs in a row")
            operand = self._factor()
            self._depth -= 1
            return Operation("negative", (operand,)) if sign == "-" else operand
        tree = self._power()
        while self._tight and self._starts_factor():
            tree = Operation("*", (tree, self._power()))
        return tree

    def _power(self) -> Tree:
        base = self._primary()
        if self._sign("^") is None:
            return base
        self._depth += 1
        if self._depth > DEPTH:
            raise Unreadable("its powers are nested too deeply")
        negative = self._sign("+", "-") == "-"
        exponent = self._power()
        self._depth -= 1
        return Operation("^", (base, Operation("negative", (exponent,)) if negative else exponent))

    def _primary(self) -> Tree:
        kind, text = self._next()
        if kind == "number":
            return Constant(float(text.replace(",", "")))
        if kind == "variable":
            return Variable(text)
        if kind == "constant":
            return Constant(CONSTANTS[text])
        if kind == "function":
            return self._call(text)
        if text != "(":
            raise Unreadable(f"`{text}` appears where a number or a letter is expected")
        tree = self._sum()
        self._expect(")")
        return tree

    def _call(self, function: str) -> Tree:
        if function in ("frac", "root"):
            first = self._primary()
            second = self._primary()
            if function == "frac":
                return _quotient(first, second)
            return Operation("^", (second, _quotient(Constant(1.0), first)))
        if self._sign("(") is None:  # log n, √d
            return Operation(function, (self._power(),))
        operands = [self._sum()]
        while self._sign(",") is not None:
            operands.append(self._sum())
        self._expect(")")
        if len(operands) == 2 and function in ("log", "pow"):  # a logarithm and its base, a power
            if function == "pow":
                return Operation("^", tuple(operands))
            return _quotient(Operation("log", (operands[0],)), Operation("log", (operands[1],)))
        if (len(operands) > 1) != (function in SEVERAL) or function == "pow":
            raise Unreadable(f"`{function}` has {len(operands)} operands here")
        return Operation(function, tuple(operands))

    def _starts_factor(self) -> bool:
        """Return whether a factor follows without a sign; two numbers next to each other are not a product."""
        if self._at >= len(self._tokens):
            return False
        kind, text = self._tokens[self._at]
        if kind == "number":
            raise Unreadable(f"a sign is missing before `{text}`")
        return kind in ("variable", "constant", "function") or text == "("

    def _sign(self, *signs: str) -> str | None:
        if self._at < len(self._tokens) and self._tokens[self._at][0] == "sign":
            text = self._tokens[self._at][1]
            if text in signs:
                self._at += 1
                return text
        return None

    def _next(self) -> tuple[str, str]:
        if self._at >= len(self._tokens):
            raise Unreadable("it ends too early")
        self._at += 1
        return self._tokens[self._at - 1]

    def _expect(self, sign: str) -> None:
        if self._sign(sign) is None:
            raise Unreadable(f"a bracket `{sign}` is missing")
