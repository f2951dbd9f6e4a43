"""Adjust the converter's MathML to the typesetting of TeX where browsers would do otherwise.

This concerns limits above and below operators, spaces around functions and signs, styles of letters, and the alignment
of columns. Source: MathML Core, W3C; spaces of operators by The TeXbook, chapter 18.
"""

import re
import unicodedata
from typing import Final
from xml.etree.ElementTree import Element

from viva.formats import escaping
from viva.plugins.report.prose.letters import styled
from viva.plugins.report.prose.mathml import TAGS, NotShown, markup_of

MOST_ELEMENTS: Final = 4000
_ROWS: Final = frozenset({
    "math", "mrow", "mtd", "mstyle", "mpadded", "mphantom", "msqrt", "menclose", "mi", "mo", "mtext",
})  # fmt: skip
"""Elements with any number of children; in all others the position of a child defines its role."""
_PARTS: Final = {
    "mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3,
}  # fmt: skip
"""Elements with a fixed number of children."""
_CHARACTER: Final = re.compile(r"&#x([0-9A-Fa-f]{1,6});")
_ESCAPED: Final = re.compile(r"\\([_%&#${} ])")
_LARGE: Final = frozenset("∑∏∐⋂⋃⋁⋀⨀⨁⨂⨃⨄⨆")
_WITH_LIMITS: Final = frozenset({"lim", "sup", "inf", "max", "min", "argmax", "argmin"})
_LIMITS: Final = {"msub": "munder", "msup": "mover", "msubsup": "munderover"}
_SCRIPTS: Final = frozenset({*_LIMITS, *_LIMITS.values()})
_ORDINARY: Final = frozenset("∂∇∞∅∀∃⊤")
"""Signs that TeX typesets like letters."""
_LINES: Final = {"mover": "top", "munder": "bottom"}
"""The converter draws lines as a character that no font stretches; the style sheet draws them as borders."""
_WIDE: Final = {"^": "\u0302"}
"""The converter's accents, which fonts do not stretch, and their stretchable equivalents."""
_BARS: Final = frozenset("|‖")
_FENCES: Final = frozenset("()[]{}|‖")
_THIN: Final = "0.167em"


def typeset(tree: Element, latex: str, *, block: bool) -> str:
    """Write the converter's tree as markup of MathML Core.

    Args:
        tree: a `math` element.
        latex: its source, for copying and for screen readers.
        block: whether the formula is displayed on a line of its own.

    Raises:
        NotShown: the tree contains something that is not mathematics, such as the name of a command, or is too large.
    """
    if sum(1 for _ in tree.iter()) > MOST_ELEMENTS:
        raise NotShown
    math = Element(
        "math", {"display": "block" if block else "inline", "alttext": escaping.line(latex, characters=2000)}
    )
    math.extend(_lines(_children(tree)))
    return markup_of(math)


def _lines(children: list[Element]) -> list[Element]:
    r"""Return the parts of a formula, as a table of its lines if it has a `\\` outside of a table."""
    row = list(children[0]) if len(children) == 1 and children[0].tag == "mrow" else children
    if not any(_is_break(part) for part in row):
        return children
    table, cell = Element("mtable", {"displaystyle": "true"}), Element("mtd", {"columnalign": "left"})
    for part in [*row, Element("mspace", {"linebreak": "newline"})]:
        if not _is_break(part):
            cell.append(part)
        elif len(cell):
            line = Element("mtr")
            line.append(cell)
            table.append(line)
            cell = Element("mtd", {"columnalign": "left"})
    return [table]


def _is_break(part: Element) -> bool:
    return part.get("linebreak") == "newline"


def _children(element: Element) -> list[Element]:
    children = [_core(old) for old in element]
    return _spaced(_barred(_fenced(_joined(children)))) if element.tag in _ROWS else children


def _core(old: Element) -> Element:
    if old.tag not in TAGS and old.get("notation") != "box":
        raise NotShown
    children = _children(old)
    if old.tag == "menclose":
        return _row(children, notation="box")
    if old.tag in ("mi", "mo", "mn", "mtext") and not children:
        return _token(old)
    if old.tag in ("mrow", "mi", "mo", "mtext"):  # \mathop{…} and similar commands: the group is the content
        return children[0] if len(children) == 1 else _row(children)
    if old.tag == "mtable":
        _rule(children, old.get("columnlines", ""))
    if old.tag in _LINES and len(children) == 2 and children[1].text == "―":
        return _row(children[:1], notation=_LINES[old.tag])
    if len(children) != _PARTS.get(old.tag, len(children)):
        raise NotShown
    new = Element(old.tag, dict(old.attrib))
    new.extend(children)
    return _scripted(new) if new.tag in _SCRIPTS else new


def _row(children: list[Element], **attributes: str) -> Element:
    row = Element("mrow", attributes)
    row.extend(children)
    return row


def _token(old: Element) -> Element:
    """Return a letter, a number, a sign or a text as an element for browsers."""
    raw = _ESCAPED.sub(r"\1", old.text or "") if old.tag == "mtext" else old.text or ""
    if raw in ("&", "#", "$", "{", "}") and old.tag == "mi":
        raise NotShown
    if ("\\" in raw and raw != "\\\\") or "&#xNone;" in raw:
        raise NotShown
    new = Element(old.tag, dict(old.attrib))
    text = _CHARACTER.sub(lambda found: chr(min(int(found[1], 16), 0x10FFFF)), raw)
    if not (text.isascii() and text.isprintable()):
        text = escaping.terminal(text)
    if text == "~" and new.tag == "mi":
        text = "∼"
    new.text = text = _in_style(new, text)
    if new.tag == "mi" and len(text) == 1:
        kind = unicodedata.category(text)
        if text in ":;·" or kind in ("Sm", "Ps", "Pe"):
            new.tag = "mo"
        if kind in ("Ps", "Pe"):
            new.set("stretchy", "false")
    if new.tag == "mo" and (text in _ORDINARY or (_is_word(text) and "movablelimits" not in new.attrib)):
        new.tag = "mi"
    if new.tag == "mo" and (text == "/" or _is_word(text)):
        new.attrib |= {"lspace": "0em", "rspace": "0em"}
    if "minsize" in new.attrib:
        new.set("stretchy", "true")
    return new


def _in_style(token: Element, text: str) -> str:
    """Return a text in the style of its token, and remove the attribute of the style, which browsers do not support."""
    style = token.attrib.pop("mathvariant", "")
    if style == "normal":
        token.set("mathvariant", style)
    elif style and not (style == "italic" and len(text) == 1):
        return styled(unicodedata.normalize("NFKC", text) if token.tag == "mi" else text, style)
    return text


def _is_word(text: str) -> bool:
    return len(text) > 1 and text.replace("\u2009", "").replace("\u2006", "").replace(" ", "").isalpha()


def _scripted(element: Element) -> Element:
    """Remove the spaces around signs in scripts, and stretch hats to the width of their base."""
    for script in list(element)[1:]:
        for sign in script.iter("mo"):
            if not _is_word(sign.text or ""):
                sign.attrib = {"lspace": "0em", "rspace": "0em"} | sign.attrib
    over = element[1] if len(element) == 2 else None
    if over is not None and over.tag == "mo" and element[0].tag == "mrow" and over.text in _WIDE:
        over.text = _WIDE[over.text]
        over.set("stretchy", "true")
        element.attrib.pop("accent", None)
    return _limited(element)


def _limited(element: Element) -> Element:
    """Turn scripts of large operators into limits, which are above and below them in display style, as in TeX."""
    base = element[0] if len(element) else None
    if base is None or base.tag not in ("mi", "mo"):
        return element
    text = "".join((base.text or "").split())
    if text not in _LARGE and text not in _WITH_LIMITS and base.get("movablelimits") is None:
        return element
    asked_for = element.tag not in _LIMITS
    element.tag = _LIMITS.get(element.tag, element.tag)
    base.tag = "mo"
    base.set("movablelimits", "false" if asked_for else "true")
    if _is_word(base.text or ""):
        base.attrib |= {"lspace": "0em", "rspace": "0em"}
    return element


def _joined(children: list[Element]) -> list[Element]:
    r"""Join consecutive upright letters into one word, and put the line of `\not` through the next sign."""
    joined: list[Element] = []
    strike = False
    for part in children:
        before = joined[-1] if joined else None
        if part.tag == "mpadded" and len(part) == 1 and part[0].text == "⧸":
            strike = True
            continue
        if strike:
            if part.tag not in ("mo", "mi") or not part.text:
                raise NotShown
            part.text = unicodedata.normalize("NFC", part.text + "\u0338")
            strike = False
        if before is not None and _is_upright(before) and _is_upright(part):
            before.text = f"{before.text}{part.text}"
        else:
            joined.append(part)
    for part in joined:
        if _is_upright(part) and len(part.text or "") > 1:
            del part.attrib["mathvariant"]
    return joined


def _is_upright(part: Element) -> bool:
    return part.tag == "mi" and part.get("mathvariant") == "normal" and (part.text or "").isalpha()


def _fenced(children: list[Element]) -> list[Element]:
    """Group a matrix with its brackets, so that they grow with the matrix only."""
    fenced: list[Element] = []
    for part in children:
        if len(fenced) >= 2 and fenced[-1].tag == "mtable" and _grows(part) and _grows(fenced[-2]):
            table, opening = fenced.pop(), fenced.pop()
            opening.attrib |= {"stretchy": "true", "form": "prefix"}
            part.attrib |= {"stretchy": "true", "form": "postfix"}
            fenced.append(_row([opening, table, part]))
        else:
            fenced.append(part)
    return fenced


def _barred(children: list[Element]) -> list[Element]:
    """Remove the spaces of a relation around bars; they grow only if the formula says so."""
    for part in children:
        bar = part[0] if part.tag in _SCRIPTS and len(part) else part
        if bar.tag == "mo" and bar.text in _BARS and "form" not in bar.attrib:
            bar.attrib = {"stretchy": "false", "lspace": "0em", "rspace": "0em"} | bar.attrib
    return children


def _grows(part: Element) -> bool:
    return part.tag == "mo" and part.text in _FENCES and not part.attrib


def _spaced(children: list[Element]) -> list[Element]:
    r"""Put a thin space next to names of functions, but not before a bracket: `\log x`, `\log(x)`."""
    spaced: list[Element] = []
    for at, part in enumerate(children):
        before = children[at - 1] if at else None
        if before is not None and _is_function(part) and not _is_operator(before) and not _is_function(before):
            spaced.append(Element("mspace", {"width": _THIN}))
        spaced.append(part)
        after = children[at + 1] if at + 1 < len(children) else None
        if after is not None and _is_function(part) and not _is_operator(after):
            spaced.append(Element("mspace", {"width": _THIN}))
    return spaced


def _is_function(part: Element) -> bool:
    if part.tag in _SCRIPTS:
        return len(part) > 0 and _is_function(part[0])
    return part.tag in ("mi", "mo") and _is_word(part.text or "") and (part.text or "").isascii()


def _is_operator(part: Element) -> bool:
    if part.tag in ("mspace", "mtext"):
        return True
    if part.tag == "mrow" or part.tag in _SCRIPTS:
        return len(part) > 0 and _is_operator(part[0])
    return part.tag == "mo" and not _is_word(part.text or "")


def _rule(rows: list[Element], lines: str) -> None:
    """Draw lines between columns: browsers support them for cells, not for tables."""
    for row in rows:
        for cell, line in zip(row, lines.split(), strict=False):
            if line == "solid":
                cell.set("columnlines", "solid")
