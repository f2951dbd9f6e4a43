r"""Where formulas stand in Markdown: `$…$`, `$$…$$`, `\(…\)`, `\[…\]`, `\begin{…}…\end{…}`, and never in code.

As Jupyter finds them before it reads the Markdown (jupyterlab, rendermime, latex.ts), with pandoc's rule for a single
dollar (tex_math_dollars): prices are no formulas. Brackets may have one backslash, or two as notebooks want it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

# The text is a student's: nothing is tried twice (`++`), and what opens a formula ends the search of the one before.
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
    """One formula of a text."""

    source: str
    """With the signs around it, as it was typed."""
    latex: str
    """Without them."""
    block: bool
    """Whether it stands in a line of its own."""


def without_formulas(text: str, instead: Callable[[Formula], str]) -> str:
    """The text with something else in the place of every formula; code, and dollars that are money, stay.

    Args:
        text: Markdown.
        instead: called with the formulas in the order of the text.
    """

    def put(found: re.Match[str]) -> str:
        for kind in _KINDS:
            if found[kind] is not None:
                return instead(Formula(found.group(), found[kind], kind in _BLOCKS))
        return found.group()

    return _FOUND.sub(put, text)
