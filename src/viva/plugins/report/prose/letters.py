r"""Letters in mathematical styles: browsers draw `\mathbf{W}` from the character 𝐖, and have no attribute for it.

Source: MathML Core, section 2.1.6 and appendix C (mappings of mathvariant to the Mathematical Alphanumeric Symbols).
"""

import unicodedata
from functools import cache
from typing import Final

_STYLES: Final = {
    "bold": "BOLD",
    "italic": "ITALIC",
    "bold-italic": "BOLD ITALIC",
    "double-struck": "DOUBLE-STRUCK",
    "script": "SCRIPT",
    "fraktur": "FRAKTUR",
    "sans-serif": "SANS-SERIF",
    "sans-serif-italic": "SANS-SERIF ITALIC",
    "monospace": "MONOSPACE",
}
_LETTER: Final = {
    "LATIN CAPITAL LETTER ": "CAPITAL ",
    "LATIN SMALL LETTER ": "SMALL ",
    "GREEK CAPITAL LETTER ": "CAPITAL ",
    "GREEK SMALL LETTER ": "SMALL ",
    "DIGIT ": "DIGIT ",
}


def styled(text: str, style: str) -> str:
    """Convert a text to a style, letter by letter; characters that do not exist in that style stay as they are."""
    return "".join(_letter(letter, style) for letter in text)


@cache
def _letter(letter: str, style: str) -> str:
    name = unicodedata.name(letter, "")
    kind = next((short + name.removeprefix(long) for long, short in _LETTER.items() if name.startswith(long)), "")
    if not kind or style not in _STYLES:
        return letter
    wanted = f"{_STYLES[style]} {kind}"
    # Some letters have another name because they are older than the others: ℂ, ℋ, ℭ, ℎ.
    older = "PLANCK CONSTANT" if wanted == "ITALIC SMALL H" else wanted.replace("FRAKTUR", "BLACK-LETTER")
    for found in (f"MATHEMATICAL {wanted}", older):
        try:
            return unicodedata.lookup(found)
        except KeyError:
            continue
    return letter
