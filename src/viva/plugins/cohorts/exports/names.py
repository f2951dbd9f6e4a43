"""Compare names and identifiers of people: identifiers without case and Unicode form, names also without spaces."""

import unicodedata
from typing import Final

_UNSEEN: Final = ("Cf", "Cc", "Cs")
_JOINERS: Final = "\u200c\u200d"
"""These are invisible too, but names in Persian and in the scripts of India are written with them."""


def clean_text(text: str) -> str:
    """Return a name or identifier in normal form C, on one line, without invisible characters."""
    return " ".join("".join(c for c in unicodedata.normalize("NFC", text) if _stays(c)).split())


def normalize_id(text: str) -> str:
    """Return a key that is equal for two spellings of one identifier, login or address."""
    bare = clean_text(text).translate(dict.fromkeys(map(ord, _JOINERS)))
    return unicodedata.normalize("NFC", bare.casefold())


def normalize_name(text: str) -> str:
    """Return a key that is equal for two spellings of one name: case and spaces do not count, accents do."""
    return normalize_id(text.replace("_", " "))


def squeeze_name(text: str) -> str:
    """Return a name as file names contain it, with everything but letters and digits removed."""
    return "".join(c for c in normalize_name(text) if c.isalnum())


def reorder_name(name: str) -> str:
    """Turn "Lovelace, Ada" into "Ada Lovelace", as it is read; leave any other name as it is."""
    last, comma, first = clean_text(name).partition(", ")
    return f"{first} {last}" if comma and first and last and "," not in first else clean_text(name)


def list_name_forms(name: str, *, last: str = "") -> frozenset[str]:
    """Return every form by which a name is found: as it is read, family name first, and both without spaces.

    Args:
        name: as it is read: "Ada King Lovelace".
        last: the family name, where it is known; else the last word of the name.
    """
    read = normalize_name(name)
    if not read:
        return frozenset()
    family = normalize_name(last) or read.rpartition(" ")[2]
    first = read.removesuffix(family).strip()
    both = {read, f"{family} {first}".strip()} if read.endswith(family) else {read}
    return frozenset(form for text in both for form in (text, squeeze_name(text)) if form)


def _stays(character: str) -> bool:
    return character.isspace() or character in _JOINERS or unicodedata.category(character) not in _UNSEEN
