"""Names of submissions and their files that every file system accepts and that no file system takes for equal."""

import re
import unicodedata
from typing import Final

MAX_BYTES: Final = 120
"""The most bytes of a name in UTF-8; names of files below it and suffixes add to that."""
_FORBIDDEN: Final = frozenset('<>:"/\\|?*')
_ENDING: Final = re.compile(r"(\.tar)?\.[A-Za-z0-9]{1,8}\Z")
_RESERVED: Final = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|clock\$|(com|lpt)[0-9¹²³])(\..*)?", re.IGNORECASE)


def make_safe_component(text: str) -> str:
    """Return a path component that Linux, macOS and Windows accept and show alike; never empty, `.` or `..`.

    Letters of any script stay; characters with a special meaning for a file system, a shell or a terminal become `_`.
    """
    text = "".join("_" if _is_forbidden(c) else c for c in unicodedata.normalize("NFC", text))
    text = _cut(text.strip(" \u00a0").rstrip(". ").lstrip(".-~ "))
    if _RESERVED.fullmatch(text):
        return f"_{text}"
    return text or "unnamed"


def normalize_component(name: str) -> str:
    """Return a key that is equal for two names that some file system takes for the same."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKD", name).casefold()).casefold()


class Names:
    """Gives each submission a unique name."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def give(self, label: str, *, addition: str = "") -> str:
        """Return a safe name like `label`, followed by `addition`, and by a number where that is taken."""
        return self._own(make_safe_component(label) + addition, "")

    def give_file(self, name: str) -> str:
        """Return a safe name for a file; its ending stays."""
        stem, dot, ending = make_safe_component(name).rpartition(".")
        return self._own(stem, dot + ending) if stem else self._own(ending, "")

    def _own(self, wished: str, ending: str) -> str:
        name, number = wished + ending, 2
        while normalize_component(name) in self._taken:
            name, number = f"{wished}~{number}{ending}", number + 1
        self._taken.add(normalize_component(name))
        return name


def _cut(text: str) -> str:
    """Shorten a text to the length of a component; the ending stays, because it says what a file is."""
    if len(text.encode("utf-8", "replace")) <= MAX_BYTES:
        return text
    ending = _ENDING.search(text)
    kept = ending[0] if ending else ""
    stem = text.encode("utf-8", "replace")[: MAX_BYTES - len(kept)].decode("utf-8", "ignore")
    return stem.rstrip(". ") + kept


def _is_forbidden(character: str) -> bool:
    return character in _FORBIDDEN or unicodedata.category(character) in ("Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp")
