r"""Takes off what students put around an answer: **bold**, `code`, "quotes", \boxed{}, the np of np.sqrt."""

import re
from typing import Final

_BOXES: Final = re.compile(
    r"\\(?:boxed|fbox|num|text|textbf|mathbf|mathrm|mathit|mathsf|operatorname|mbox)\s*\{((?:[^{}]|\{[^{}]*\})*)\}"
)
_MODULES: Final = re.compile(
    r"\b(?:np|numpy|math|torch)\.(?=(?:sqrt|exp|log|log2|log10|pow|pi|e|abs|ceil|floor|max|min)\b)"
)
_DEEPEST: Final = 3
_AROUND: Final = re.compile(
    r"\s*(?:\*\*(?P<bold>.+)\*\*|(__|[*_`\"'])(?P<marked>(?:(?!\2).)+)\2|“(?P<low>[^”]*)”|„(?P<german>[^“”]*)[“”]|‘(?P<single>[^’]*)’)\s*",
    re.DOTALL,
)


def unwrapped(text: str) -> str:
    """Return the text without markup around all of it, without LaTeX boxes and without the modules of functions."""
    for _ in range(_DEEPEST):
        text = _BOXES.sub(r"\1", text)
        if match := _AROUND.fullmatch(text):
            text = match["bold"] or match["marked"] or match["low"] or match["german"] or match["single"] or ""
    return _MODULES.sub("", text).strip()
