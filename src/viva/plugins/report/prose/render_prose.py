"""Render students' prose as HTML without active content: Markdown, highlighted code, formulas without a script."""

import re
import secrets
from html import escape
from typing import TYPE_CHECKING, Final

from viva.formats import escaping
from viva.plugins.report.prose.delimiters import Formula, without_formulas
from viva.plugins.report.prose.formulas import mathml
from viva.plugins.report.prose.markdown import as_html
from viva.plugins.report.prose.sanitise import sanitised

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markupsafe import Markup

MOST_RENDERED: Final = 20_000
"""The maximum number of characters of a text that is rendered; a longer one is shown as plain text."""
_MOST_WRITTEN: Final = 1_000_000
"""The maximum number of characters of an answer: more than a result can hold, since its marker must see all of it."""
MOST_FORMULAS: Final = 500
"""The maximum number of formulas drawn in a text; the source of the others is shown."""
FAULTS: Final = (ValueError, RecursionError, IndexError, KeyError, TypeError, AttributeError)
"""Errors of a renderer, which must not make a whole page fail."""
WHOLE: Final["Mapping[str, int]"] = {"characters": MOST_RENDERED, "lines": MOST_RENDERED}
"""Limits for `escaping.terminal` with which no text that is rendered is cut."""
_TAG: Final = r'<(?P<end>/?)(?P<name>[a-z0-9]+)(?:[^<>"]|"[^"]*")*>'


def rendered(text: str) -> "Markup":
    r"""Render the Markdown of a notebook, sanitised, with formulas: `$…$`, `$$…$$`, `\(…\)`, `\[…\]`, `\begin{…}…`.

    A text that cannot be rendered, or is longer than `MOST_RENDERED`, is shown as plain text. A formula that cannot be
    rendered is shown by its source.

    Raises:
        UsageError: nh3, mistune or latex2mathml is not installed.
    """
    return _shown(text, keep=False)


def written(text: str) -> "Markup":
    """Render a written answer of a notebook or of answers.yaml for markers: like `rendered`, but all of it is visible.

    Line breaks stay, and text that looks like a tag hides no words.

    Raises:
        UsageError: nh3, mistune or latex2mathml is not installed.
    """
    return _shown(text, keep=True)


def as_text(text: str) -> "Markup":
    """Return a text as a `pre` element, cut to twice `MOST_RENDERED` characters."""
    from markupsafe import Markup

    return Markup("<pre>{}</pre>").format(escaping.terminal(text, characters=2 * MOST_RENDERED, lines=2000))


def as_typed(text: str) -> "Markup":
    """Return the whole text of an answer as a `pre` element."""
    from markupsafe import Markup

    return Markup("<pre>{}</pre>").format(escaping.terminal(text, characters=_MOST_WRITTEN, lines=_MOST_WRITTEN))


def _shown(text: str, *, keep: bool) -> "Markup":
    plain = as_typed if keep else as_text
    if len(text) > MOST_RENDERED:
        return plain(text)
    try:
        return _with_formulas(escaping.terminal(text, **WHOLE), keep=keep)
    except FAULTS:
        return plain(text)


def _with_formulas(text: str, *, keep: bool) -> "Markup":
    """Replace formulas by placeholders, render and sanitise the rest, and put the drawn formulas into the result.

    Raises:
        ValueError: a placeholder was changed on the way.
    """
    from markupsafe import Markup

    word = f"viva{secrets.token_hex(8)}x"  # random, so that no text can contain it
    formulas: list[Formula] = []

    def taken_out(formula: Formula) -> str:
        formulas.append(formula)
        return f"{word}{len(formulas) - 1}x"

    html = sanitised(as_html(without_formulas(text, taken_out), keep=keep))
    left = _put_back(html, re.compile(rf"{word}(\d+)x"), formulas)
    if word in left.lower():
        raise ValueError("a formula cannot be put back")
    return Markup(left)  # noqa: S704  # sanitised; formulas are sanitised on their own


def _put_back(html: str, word: re.Pattern[str], formulas: list[Formula]) -> str:
    """Replace the placeholders by drawn formulas; within tags and code, by their source.

    Args:
        html: sanitised, so that every `<` begins a tag, and attribute values are in double quotes.
        word: matches a placeholder; its group is the index of the formula.
        formulas: the formulas of the text.
    """
    deep = 0

    def put(found: re.Match[str]) -> str:
        nonlocal deep
        if found["name"] is None:
            formula = formulas[int(found["at"])]
            return escape(formula.source) if deep or int(found["at"]) >= MOST_FORMULAS else _drawn(formula)
        if found["name"] in ("code", "pre", "kbd", "samp"):
            deep += -1 if found["end"] else 1
        return word.sub(lambda within: escape(formulas[int(within[1])].source), found.group())

    return re.sub(rf"{_TAG}|{word.pattern.replace('(', '(?P<at>', 1)}", put, html)


def _drawn(formula: Formula) -> str:
    drawn = mathml(formula.latex, block=formula.block)
    if drawn is None:
        return f'<code class="formula">{escape(formula.source.strip())}</code>'
    if not formula.block:
        return drawn
    # A long formula scrolls by itself; `tabindex` lets keyboard users scroll it.
    return f'<span class="formula" role="group" aria-label="Formula" tabindex="0">{drawn}</span>'
