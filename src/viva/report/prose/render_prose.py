"""What students write in words, as HTML that can only be read: Markdown, coloured code, formulas without a script."""

import re
import secrets
from html import escape
from typing import TYPE_CHECKING, Any, Final

from viva.formats import escaping
from viva.report.prose.delimiters import Formula, without_formulas
from viva.report.prose.formulas import mathml
from viva.report.prose.markdown import as_html
from viva.report.prose.sanitise import sanitised

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markupsafe import Markup

MOST_RENDERED: Final = 20_000
"""Characters of a text that is rendered; a longer one is shown as it is."""
_MOST_WRITTEN: Final = 1_000_000
"""Characters of an answer: more than a result holds, since whoever marks it has to see all of it."""
MOST_FORMULAS: Final = 500
"""Of one text; those after them are shown by their source."""
FAULTS: Final = (ValueError, RecursionError, IndexError, KeyError, TypeError, AttributeError)
"""A renderer's own; they must not cost anybody the page."""
WHOLE: Final["Mapping[str, Any]"] = {"characters": MOST_RENDERED, "lines": MOST_RENDERED}
"""For a gate: nothing of what is rendered is cut."""
_TAG: Final = r'<(?P<end>/?)(?P<name>[a-z0-9]+)(?:[^<>"]|"[^"]*")*>'


def rendered(text: str) -> "Markup":
    r"""Markdown of a notebook, sanitised, with its formulas drawn: `$…$`, `$$…$$`, `\(…\)`, `\[…\]`, `\begin{…}…`.

    What cannot be rendered, or is longer than `MOST_RENDERED`, is shown as the text that it is; a formula that cannot,
    by its source.

    Raises:
        UsageError: nh3, mistune or latex2mathml is not installed.
    """
    return _shown(text, keep=False)


def written(text: str) -> "Markup":
    """An answer in words, of a notebook or of answers.yaml, for those who mark it: `rendered`, but all of it is seen.

    Line breaks stay where the student made them, and nothing that looks like a tag takes words away.

    Raises:
        UsageError: nh3, mistune or latex2mathml is not installed.
    """
    return _shown(text, keep=True)


def as_text(text: str) -> "Markup":
    """The text as it is."""
    from markupsafe import Markup

    return Markup("<pre>{}</pre>").format(escaping.terminal(text, characters=2 * MOST_RENDERED, lines=2000))


def as_typed(text: str) -> "Markup":
    """All of an answer, as it was typed."""
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
    """Formulas are taken out, the rest is rendered and sanitised, and each is put where its word stands in the result.

    Raises:
        ValueError: a word was changed on the way.
    """
    from markupsafe import Markup

    word = f"viva{secrets.token_hex(8)}x"  # nobody can write a text in which it stands
    formulas: list[Formula] = []

    def taken_out(formula: Formula) -> str:
        formulas.append(formula)
        return f"{word}{len(formulas) - 1}x"

    html = sanitised(as_html(without_formulas(text, taken_out), keep=keep))
    left = _put_back(html, re.compile(rf"{word}(\d+)x"), formulas)
    if word in left.lower():
        raise ValueError("a formula cannot be put back")
    return Markup(left)


def _put_back(html: str, word: re.Pattern[str], formulas: list[Formula]) -> str:
    """Within a tag and within code it is the source that is put back: there it was no formula.

    Args:
        html: sanitised, so every `<` begins a tag, and values of attributes stand between double quotes.
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
    # A long line scrolls by itself, which those without a mouse do by the keyboard.
    return f'<span class="formula" role="group" aria-label="Formula" tabindex="0">{drawn}</span>'
