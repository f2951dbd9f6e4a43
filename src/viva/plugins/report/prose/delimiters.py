r"""Find formulas in Markdown: `$…$`, `$$…$$`, `\(…\)`, `\[…\]`, `\begin{…}…\end{…}`, but not in code.

They are found as in Jupyter, before the Markdown is parsed (jupyterlab, rendermime, latex.ts), with pandoc's rule for
a single dollar (tex_math_dollars), so that prices are not formulas. Brackets may have one backslash, or two as in
notebooks.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

# The text is untrusted: possessive quantifiers (`++`) prevent backtracking, and a new formula ends the previous search.
_BREAK: Final = r"\n(?![ \t]*\n)"
"""A blank line ends a formula, and a piece of code within a line."""
_FOUND: Final = re.compile(
    rf"""
      (?P<fence>^[ \t>]*+(?P<mark>`{{3,}}+(?=[^`\n]*$)|~{{3,}}+)[^\n]*+
            (?:\n(?![ \t>]*+(?P=mark)[`~]*[ \t]*$)[^\n]*+)*+(?:\n[^\n]*+)?)
    | (?P<code>(?<!`)(?P<ticks>`++)(?:[^\n`]++|{_BREAK}|(?!(?P=ticks)(?!`))`++)*+(?P=ticks)(?!`))
    | \$\$(?P<dollars>(?:[^\\$\n]++|\\[^\n]|\$(?!\$)|{_BREAK})++)\$\$
    | \$(?![\s$])(?P<dollar>(?:[^\\$\n]++|\\(?:text[a-z]*|[mh]box)\{{[^{{}}\n]{{0,300}}\}}|\\[^\n]|{_BREAK})++)
            (?<!\s)\$(?![\d$])
    | \\\\\[(?P<brackets>(?:[^\\\n]++|\\(?!\\[\[\]])|{_BREAK})++)\\\\\]
    | \\\\\((?P<rounds>(?:[^\\\n]++|\\(?!\\[()])|{_BREAK})++)\\\\\)
    | \\\[(?P<bracket>(?:[^\\\n]++|\\[^\[\]\n]|{_BREAK})++)\\\]
    | \\\((?P<round>(?:[^\\\n]++|\\[^()\n]|{_BREAK})++)\\\)
    | (?P<environment>\\begin\{{(?P<name>[a-zA-Z]{{1,20}}\*?)\}}
            (?:[^\\\n]++|\\(?!(?:begin|end)\{{(?P=name)\}})|{_BREAK})*+\\end\{{(?P=name)\}})
    | \\.
    """,
    re.MULTILINE | re.VERBOSE,
)
_BLOCKS: Final = ("dollars", "brackets", "bracket", "environment")
_KINDS: Final = ("dollar", *_BLOCKS, "rounds", "round")


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula of a text."""

    source: str
    """The formula as it was typed, with its delimiters."""
    latex: str
    """The formula without delimiters."""
    block: bool
    """Whether it is displayed on a line of its own."""


def without_formulas(text: str, instead: Callable[[Formula], str]) -> str:
    """Replace every formula of a text; code and dollar signs of prices stay.

    Args:
        text: Markdown.
        instead: returns the replacement of a formula; called in the order of the text.
    """

    def put(found: re.Match[str]) -> str:
        for kind in _KINDS:
            if found[kind] is not None:
                return instead(Formula(found.group(), found[kind], kind in _BLOCKS))
        return found.group()

    return _FOUND.sub(put, text)
