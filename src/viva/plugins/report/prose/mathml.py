"""Write MathML Core, the part of MathML that browsers draw.

No text of a student becomes markup: elements and attributes come from a list of allowed names, values must have the
form of their attribute, and text is escaped.
"""

import re
from html import escape
from typing import Final
from xml.etree.ElementTree import Element

MOST_DEEP: Final = 100
"""The maximum nesting of elements; readable formulas have a tenth of it."""
TAGS: Final = frozenset({
    "math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot", "msub", "msup", "msubsup", "munder",
    "mover", "munderover", "mtable", "mtr", "mtd", "mstyle", "mpadded", "mphantom",
})  # fmt: skip
_LENGTH: Final = re.compile(r"([+-]?)(\d{1,3}(?:\.\d{0,4})?|\.\d{1,4})(em|ex|pt|px|mu|cm|mm|)")
_IN_EM: Final = {"em": 1.0, "ex": 0.45, "pt": 0.1, "px": 0.075, "mu": 1 / 18, "cm": 2.85, "mm": 0.285, "": 0.0}
_NAMED: Final = {"thinmathspace": 0.167, "mediummathspace": 0.222, "thickmathspace": 0.278}
_MOST_EM: Final = 8.0
_TRUTH: Final = re.compile("true|false")
_LENGTHS: Final = frozenset({"width", "height", "depth", "lspace", "rspace", "voffset", "minsize", "maxsize"})
_WORDS: Final = {
    "stretchy": _TRUTH,
    "movablelimits": _TRUTH,
    "largeop": _TRUTH,
    "accent": _TRUTH,
    "accentunder": _TRUTH,
    "displaystyle": _TRUTH,
    "form": re.compile("prefix|infix|postfix"),
    "scriptlevel": re.compile("[0-3]"),
    "mathvariant": re.compile("normal"),
    "columnalign": re.compile("left|right|center"),
    "columnlines": re.compile("solid"),
    "linethickness": re.compile("0"),
    "display": re.compile("block|inline"),
    "notation": re.compile("box|top|bottom"),
}
ATTRIBUTES: Final[dict[str, frozenset[str]]] = {
    "math": frozenset({"display", "alttext"}),
    "mi": frozenset({"mathvariant"}),
    "mo": frozenset({"stretchy", "form", "lspace", "rspace", "minsize", "maxsize", "movablelimits", "largeop"}),
    "mspace": frozenset({"width"}),
    "mpadded": frozenset({"width", "height", "depth", "lspace", "voffset"}),
    "mstyle": frozenset({"displaystyle", "scriptlevel"}),
    "mfrac": frozenset({"linethickness"}),
    "mover": frozenset({"accent"}),
    "munder": frozenset({"accentunder"}),
    "mtable": frozenset({"displaystyle"}),
    "mrow": frozenset({"notation"}),
    "mtd": frozenset({"columnalign", "columnlines"}),
}


class NotShown(Exception):
    """The formula cannot be shown correctly as mathematics."""


def markup_of(element: Element, deep: int = 0) -> str:
    """Return an element as markup with only `TAGS` and `ATTRIBUTES`; other attributes are left out.

    Raises:
        NotShown: it is nested too deeply, or breaks a line where no browser does.
    """
    allowed = ATTRIBUTES.get(element.tag, frozenset())
    kept = {name: _value(element.tag, name, value) for name, value in element.attrib.items() if name in allowed}
    attributes = "".join(f' {name}="{escape(value)}"' for name, value in kept.items() if value)
    if deep > MOST_DEEP or element.get("linebreak"):
        raise NotShown
    inner = (
        escape(element.text or "", quote=False)
        if not len(element)
        else "".join(markup_of(child, deep + 1) for child in element)
    )
    return f"<{element.tag}{attributes}>{inner}</{element.tag}>"


def _value(tag: str, name: str, value: str) -> str:
    """Return the value of an attribute if it is allowed, otherwise an empty text."""
    if name == "alttext":
        return value
    if name in _LENGTHS:
        # The converter means a signed value relative to the natural size, which MathML Core does not support.
        return "" if tag == "mpadded" and name != "voffset" and value[:1] in "+-" else _length(value)
    return value if name in _WORDS and _WORDS[name].fullmatch(value) else ""


def _length(value: str) -> str:
    """Return a length in em, at most `_MOST_EM`; a longer one would move the content over other text."""
    named = _NAMED.get(value.removeprefix("negative"))
    if named is not None:
        return f"{-named if value.startswith('negative') else named:g}em"
    found = _LENGTH.fullmatch(value.strip())
    if found is None or (not found[3] and float(found[2])):
        return ""
    size = min(float(found[2]) * _IN_EM[found[3]], _MOST_EM)
    return f"{found[1]}{size:.4g}em"
