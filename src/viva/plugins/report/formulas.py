r"""Convert LaTeX formulas to MathML, which browsers draw without a script.

latex2mathml does the typesetting. A formula that it does not understand is not converted, so that the page shows the
source instead of something else.
"""

import re
import unicodedata
from html import unescape
from typing import Final
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from viva.formats import escaping
from viva.model.extras import missing_library
from viva.plugins.report.rendering import REPORTS_NEED

MAX_CHARACTERS: Final = 2000
"""The maximum length of a formula; the converter's time is quadratic in it at worst."""
TAGS: Final = frozenset({
    "math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot", "msub", "msup", "msubsup", "munder",
    "mover", "munderover", "mtable", "mtr", "mtd", "mstyle", "mpadded", "mphantom",
})  # fmt: skip
"""The elements of MathML Core."""
ATTRIBUTES: Final = {
    "math": {"display", "alttext"},
    "mi": {"mathvariant"},
    "mo": {"stretchy", "form", "lspace", "rspace", "movablelimits", "minsize", "maxsize"},
    "mspace": {"width"},
    "mstyle": {"displaystyle", "scriptlevel"},
    "mfrac": {"linethickness"},
    "mover": {"accent"},
    "mtd": {"columnalign", "columnlines"},
    "mrow": {"notation"},
}
_CHILDREN: Final = {"mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "msubsup": 3, "munderover": 3}
_VALUE: Final = re.compile(r"[a-z]{1,9}|[0-9]|[0-9]?(?:\.[0-9]{1,5})?em")
"""The values that attributes may have. Lengths are short, so that no formula stands on other text."""
_REFUSED: Final = re.compile(
    r"\\(?:(?:re|provide)?newcommand|(?:re)?newenvironment|[egx]?def|let|DeclareMathOperator"  # macros can explode
    r"|sideset"  # doubles what it holds, so a nest of them explodes
    r"|href|class|style|unicode|verb|require"  # more than mathematics
    r"|b?cancel|xcancel|sout"  # browsers do not draw the line, which negates the formula
    r"|[pbBvV]?matrix|cases|split|align|array"  # without \begin they take all that follows
    r"|hline|hdashline|rule|skew|smash|not)(?![a-zA-Z])|[_^]\s*[_^]"
)
_ENVIRONMENTS: Final = {
    **dict.fromkeys(("equation", "equation*", "math", "displaymath"), ""),
    **dict.fromkeys(("aligned", "align", "align*", "eqnarray", "eqnarray*", "split", "flalign", "flalign*"), "align*"),
    **dict.fromkeys(("gather", "gather*", "gathered", "multline", "multline*"), "matrix"),
    **{name: name for name in ("matrix", "pmatrix", "bmatrix", "Bmatrix", "vmatrix", "Vmatrix", "smallmatrix")},
    **dict.fromkeys(("cases", "dcases"), "cases"),
    "array": "array",
}
"""Environments that students use, and the equivalent that the converter supports."""
_ENVIRONMENT: Final = re.compile(r"\\(begin|end)\s*\{([^{}]*)\}")
_REWRITTEN: Final = (
    (re.compile(r"(?<!\\)%[^\n]*|\\(?:label|ref|eqref)\s*\{[^{}]*\}|\\(?:nonumber|notag)(?![a-zA-Z])"), ""),
    (re.compile(r"\\math(?:bbm|ds)(?![a-zA-Z])"), r"\\mathbb"),
    (re.compile(r"\\operatorname\*?\s*\{\s*arg\s*(?:\\[,;!: ]|~)?\s*(max|min)\s*\}"), r"\\arg\1 "),
    (re.compile(r"(?<!\\)\\\\\s*\[\s*-?[\d.]+\s*[a-z]{2}\s*\]"), r"\\\\"),
    (re.compile(r"(\\text(?:rm|bf|it)?)\{([^{}$]*)\$([^{}$]*)\$([^{}$]*)\}"), r"\1{\2}{\3}\1{\4}"),
)
_STRETCHED: Final = {"―": "‾", "^": "ˆ"}
"""Accents of the converter that fonts do not stretch, and their stretchable equivalents."""
_LIMITS: Final = {"msub": "munder", "msup": "mover", "msubsup": "munderover"}
_WITH_LIMITS: Final = frozenset({*"∑∏⋂⋃⋁⋀", "lim", "sup", "inf", "max", "min", "argmax", "argmin"})
"""Operators whose scripts are below and above them in a displayed formula."""
_STYLES: Final = {
    "bold": "BOLD", "italic": "ITALIC", "bold-italic": "BOLD ITALIC", "double-struck": "DOUBLE-STRUCK",
    "script": "SCRIPT", "fraktur": "FRAKTUR", "sans-serif": "SANS-SERIF", "monospace": "MONOSPACE",
}  # fmt: skip


class _NotConvertedError(Exception):
    """The formula cannot be shown correctly."""


def convert_formula(latex: str, *, block: bool) -> str | None:
    r"""Convert a formula to one sanitized `math` element, with its source as the `alttext`.

    Args:
        latex: the formula without delimiters, as in `\frac{1}{n}`. Untrusted.
        block: whether it is displayed on a line of its own.

    Returns:
        None if it cannot be shown correctly: it is longer than `MAX_CHARACTERS`, is invalid, defines macros, or
        contains a command that the converter does not know. The caller then shows its source.

    Raises:
        UsageError: latex2mathml or nh3 is not installed.
    """
    try:
        import nh3
        from latex2mathml.converter import convert_to_element
    except ImportError as error:
        raise missing_library(REPORTS_NEED, error.name, "report") from None
    if len(latex) > MAX_CHARACTERS or not latex.strip() or _REFUSED.search(latex):
        return None
    try:
        tree: Element = convert_to_element(_rewrite(latex), display="block" if block else "inline")
        _adjust(tree)
        tree.set("alttext", escaping.line(latex, characters=MAX_CHARACTERS))
        markup = ElementTree.tostring(tree, "unicode", method="html")
    except Exception:  # any error of the converter means that it cannot convert the formula
        return None
    attributes: dict[str, set[str]] = {"*": set(), **ATTRIBUTES}
    return nh3.clean(markup, tags=set(TAGS), attributes=attributes, attribute_filter=_filter_attribute, link_rel=None)


_FONTS: Final = frozenset({
    "bb", "bf", "cal", "frak", "it", "rm", "scr", "sf", "sfit", "tt", "normal", "ring", "bin", "choice", "close",
    "inner", "op", "open", "ord", "punct", "rel", "strut", "clap", "llap", "rlap",
})  # fmt: skip
"""The names that may follow `\\math`; for any other the converter would show the letters without the font."""
_FONT: Final = re.compile(r"\\math([a-zA-Z]+)")


def _rewrite(latex: str) -> str:
    """Rewrite a formula with commands that the converter supports."""
    for pattern, replacement in _REWRITTEN:
        latex = pattern.sub(replacement, latex)
    if (
        any(font not in _FONTS for font in _FONT.findall(latex))
        or latex.count("{") != latex.count("}")
        or "$" in latex.replace(r"\$", "")
    ):
        raise _NotConvertedError
    if r"\\" in latex and r"\begin" not in latex:
        latex = rf"\begin{{align*}}{latex}\end{{align*}}"
    return _ENVIRONMENT.sub(_rewrite_environment, latex)


def _rewrite_environment(match: re.Match[str]) -> str:
    name = _ENVIRONMENTS[match[2]]
    return rf"\{match[1]}{{{name}}}" if name else ""


def _adjust(element: Element) -> None:
    """Adjust the converter's elements to what browsers draw.

    Raises:
        _NotConvertedError: an element holds a command that the converter did not understand.
    """
    for child in element:
        _adjust(child)
    if element.get("notation") == "box":
        element.tag = "mrow"
    if element.tag not in TAGS or element.get("linebreak") or len(element) != _CHILDREN.get(element.tag, len(element)):
        raise _NotConvertedError
    if element.tag in _LIMITS and element[0].text in _WITH_LIMITS:
        element.tag = _LIMITS[element.tag]
        element[0].set("movablelimits", "true")
    text = escaping.terminal(unescape(element.text or ""))
    if element.tag == "mtext":
        text = re.sub(r"\\([_%&#${} ])", r"\1", text)
    if "\\" in text or (element.tag == "mi" and text in ("&", "#", "$", "{", "}")):
        raise _NotConvertedError
    style = element.attrib.pop("mathvariant", "")
    if style == "normal":
        element.set("mathvariant", style)
    element.text = "".join(_style_letter(letter, style) for letter in _STRETCHED.get(text, text)) or None
    if element.tag == "mi" and len(text) == 1 and unicodedata.category(text) == "Sm":  # a sign that was typed: ≤
        element.tag = "mo"
    if element.tag == "mi" and len(text) > 1 and text.isascii() and text.isalpha():  # a function, as in `\log x`
        element.tag = "mo"
        element.attrib |= {"lspace": "0em", "rspace": "0.167em"}


def _style_letter(letter: str, style: str) -> str:
    r"""Return a letter in a mathematical style: browsers draw `\mathcal{L}` from ℒ, and have no attribute for it."""
    name = unicodedata.name(letter, "").replace("LETTER ", "").removeprefix("LATIN ").removeprefix("GREEK ")
    for prefix in ("MATHEMATICAL ", ""):  # some letters are older than the others, and have a shorter name: ℂ, ℒ
        try:
            return unicodedata.lookup(f"{prefix}{_STYLES[style]} {name}")
        except KeyError:
            continue
    return letter


def _filter_attribute(_tag: str, name: str, value: str) -> str | None:
    if name == "alttext" or _VALUE.fullmatch(value):
        return value
    return None
