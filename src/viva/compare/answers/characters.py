"""Characters that look alike but differ, as word processors, phones and other keyboards put them into answers."""

import re
import unicodedata
from typing import Final

_PAIRS: Final = {
    "АВЕЅІЈКМНОРСТХУ": "ABESIJKMHOPCTXY",  # Cyrillic
    "аеѕіјорсхуԁһ": "aesijopcxydh",
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ": "ABEZHIKMNOPTYX",  # Greek
    "ο": "o",
}
_LATIN: Final = str.maketrans("".join(_PAIRS), "".join(_PAIRS.values()))
_SIGNS: Final = str.maketrans(
    {
        **dict.fromkeys("−–—‒‐‑﹣－", "-"),
        **dict.fromkeys("×·⋅∙•✕✖∗＊", "*"),
        **dict.fromkeys("÷∕⁄／", "/"),
        **dict.fromkeys("、，", ","),
        **dict.fromkeys("’‘`´ʹ′", "'"),
        **dict.fromkeys(
            "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "
        ),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", None),
    }
)
_SUPERSCRIPTS: Final = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿ", "0123456789+-()n", strict=True))
_SUBSCRIPTS: Final = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))
_UP: Final = str.maketrans(_SUPERSCRIPTS)
_DOWN: Final = str.maketrans(_SUBSCRIPTS)
_SMALL_FRACTION: Final = re.compile("([⁰¹²³⁴-⁹]{1,9})[⁄/]([₀-₉]{1,9})")


def latin(text: str) -> str:
    """Return full-width and look-alike letters as Latin ones: the Cyrillic "Не" becomes "He"."""
    return unicodedata.normalize("NFKC", text).translate(_LATIN)


def plain_signs(text: str) -> str:
    """Return the text with keyboard signs: minus, dots, crosses, slashes, spaces; invisible characters are dropped."""
    return text.translate(_SIGNS)


def powers_written_out(text: str) -> str:
    """Return raised digits as powers, lowered ones as indices: "d²" becomes "d^(2)", "h₁" becomes "h_1"."""
    return _runs(_runs(text, _SUPERSCRIPTS, "^({})"), _SUBSCRIPTS, "_{}")


def fractions_written_out(text: str) -> str:
    """Return the text with "½" as "(1/2)", and "1½" as the sum "1+(1/2)"."""
    text = _SMALL_FRACTION.sub(lambda match: f"({match[1].translate(_UP)}/{match[2].translate(_DOWN)})", text)
    written: list[str] = []
    for character in text:
        parts = unicodedata.decomposition(character).split()
        if parts and parts[0] == "<fraction>":
            value = "".join(chr(int(code, 16)) for code in parts[1:]).translate(_SIGNS)
            plus = "+" if written and written[-1].isdigit() else ""
            written.append(f"{plus}({value})")
        else:
            written.append(character)
    return "".join(written)


def _runs(text: str, table: dict[str, str], form: str) -> str:
    written: list[str] = []
    run = ""
    for character in text + "\0":
        if character in table:
            run += table[character]
            continue
        if run:
            written.append(form.format(run))
            run = ""
        written.append(character)
    return "".join(written)[:-1]
