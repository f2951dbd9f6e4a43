r"""Rewrite students' LaTeX for a converter that supports less of it, and refuse what it would show wrong.

The converter shows an unknown command by its name and an unknown environment without its rows, and expands macros.
None of that may appear in place of a formula.
"""

import re
from typing import Final

from viva.plugins.report.prose.mathml import NotShown

MOST_CHARACTERS: Final = 2000
"""The maximum length of a formula; the converter's time is quadratic in it at worst."""
_MOST_DEEP: Final = 40
"""The maximum nesting of groups and environments; readable LaTeX has a tenth of it."""

_REFUSED: Final = re.compile(
    r"\\(?:(?:re|provide)?newcommand|(?:re)?newenvironment|[egx]?def|let|DeclareMathOperator"  # macros can explode
    r"|sideset"  # doubles what it holds, so a nest of them explodes
    r"|href|class|style|unicode|verb|require"  # more than mathematics
    r"|b?cancel|xcancel|sout"  # browsers do not draw the line, which negates the formula
    r"|[pbBvV]?matrix|cases|eqalign(?:no)?|displaylines|split|align|array"  # without \begin they take all that follows
    r"|hline|hdashline|rule|skew|smash)(?![a-zA-Z])"
)
_FONTS: Final = frozenset({
    "bb", "bf", "cal", "frak", "it", "rm", "scr", "sf", "sfit", "tt", "normal", "ring", "bin", "choice", "close",
    "inner", "op", "open", "ord", "punct", "rel", "strut", "clap", "llap", "rlap",
})  # fmt: skip
"""The names that may follow `\\math`; for any other the converter would show the letters without the font."""
_FONT: Final = re.compile(r"\\math([a-zA-Z]+)")
_NO_BASE: Final = re.compile(r"(?<!\\)[_^]\s*[_^]")
_NESTING: Final = re.compile(r"\\[\\{}]|[{}]|\\(?:begin|end)(?![a-zA-Z])|\\(?:left|right)(?![a-zA-Z])")
_ENVIRONMENT: Final = re.compile(r"\\(begin|end)\s*\{([^{}]*)\}(\[[a-z]\])?")
_ROWS: Final = {
    "aligned": "align*", "align": "align*", "align*": "align*", "eqnarray": "align*", "eqnarray*": "align*",
    "split": "align*", "flalign": "align*", "flalign*": "align*",
    "gather": "matrix", "gather*": "matrix", "gathered": "matrix", "multline": "matrix", "multline*": "matrix",
    "substack": "substack", "cases": "cases", "dcases": "cases", "array": "array", "smallmatrix": "smallmatrix",
    **{name: name for name in ("matrix", "pmatrix", "bmatrix", "Bmatrix", "vmatrix", "Vmatrix")},
}  # fmt: skip
"""Environments with rows, and the equivalent that the converter supports."""
_NO_ROWS: Final = frozenset({"equation", "equation*", "math", "displaymath"})
_ROW_SPACE: Final = re.compile(r"(?<!\\)\\\\\s*\[\s*-?[\d.]+\s*[a-z]{2}\s*\]")
_TEXT: Final = re.compile(r"\\(text(?:rm|normal|bf|it|sf|tt|md|up)?|[mh]box)\s*\{([^{}]*)\}")
_REWRITTEN: Final = (
    (re.compile(r"(?<!\\)%[^\n]*"), ""),
    (re.compile(r"\\(?:label|ref|eqref)\s*\{[^{}]*\}|\\(?:nonumber|notag)(?![a-zA-Z])"), ""),
    (re.compile(r"\\math(?:bbm|ds)(?![a-zA-Z])"), r"\\mathbb"),
    (re.compile(r"\\operatorname\*?\s*\{\s*arg\s*(?:\\[,;!: ]|~)?\s*(max|min)\s*\}"), r"\\arg\1 "),
    (re.compile(r"\\operatorname\s*\{([a-zA-Z ]*[^a-zA-Z {}\\][^{}\\]*)\}"), r"\\mathrm{\1}"),
    (
        re.compile(r"\\mathrm\s*\{([a-zA-Z])\}"),
        r"\\mathrm{{\1}}",
    ),  # otherwise it becomes the letter alone, which is italic
    (re.compile(r"\\substack\s*\{((?:[^{}]|\{[^{}]*\})*)\}"), r"\\begin{substack}\1\\end{substack}"),
    (re.compile(r"\\tag(?=\*?\s*\{)"), r"\\qquad\\tag"),
    (re.compile(r"\\arg(?![a-zA-Z])"), r"\\operatorname{arg}"),
    (re.compile(r"\\(?:lbrace|\{)"), r"\\{"),
    (re.compile(r"\\(?:rbrace|\})"), r"\\}"),
)


def prepared(latex: str) -> str:
    """Rewrite a formula with commands that the converter supports.

    Raises:
        NotShown: it is too long or nested too deeply, is not balanced, or contains what would be shown wrong.
    """
    if len(latex) > MOST_CHARACTERS or not latex.strip() or _REFUSED.search(latex) or _NO_BASE.search(latex):
        raise NotShown
    for pattern, instead in _REWRITTEN:
        latex = pattern.sub(instead, latex)
    latex = _TEXT.sub(_text, _ROW_SPACE.sub(r"\\\\", latex))
    if "$" in latex.replace(r"\$", "") or any(word not in _FONTS for word in _FONT.findall(latex)):
        raise NotShown
    _check_nesting(latex)
    return _ENVIRONMENT.sub(_environment, latex)


def _text(found: re.Match[str]) -> str:
    r"""Rewrite `\text{if $x$}` as `\text{if }{x}`: the converter does not support a formula within text."""
    parts = re.split(r"(?<!\\)\$", found[2])
    if len(parts) % 2 == 0:
        raise NotShown
    command = "\\text" if found[1].endswith("box") else f"\\{found[1]}"
    return "".join(
        f"{{{part}}}" if at % 2 else f"{command}{{{part}}}" for at, part in enumerate(parts) if part or len(parts) == 1
    )


def _check_nesting(latex: str) -> None:
    opened: list[str] = []
    ends = {"}": "{", r"\end": r"\begin", r"\right": r"\left"}
    for found in _NESTING.finditer(latex):
        mark = found.group()
        if mark in ends:
            if not opened or opened.pop() != ends[mark]:
                raise NotShown
        elif mark in ends.values():
            opened.append(mark)
            if len(opened) > _MOST_DEEP:
                raise NotShown
    if opened:
        raise NotShown


def _environment(found: re.Match[str]) -> str:
    if found[2] in _NO_ROWS:
        return ""
    if found[2] not in _ROWS:
        raise NotShown
    return rf"\{found[1]}{{{_ROWS[found[2]]}}}"
