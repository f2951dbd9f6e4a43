"""Convert the Markdown of notebooks, with tables, task lists, definitions and highlighted code, to unsanitised HTML.

The result is that of nbconvert, by the same library (mistune), without nbconvert, which takes ten times as long to
import.
"""

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from viva.model.extras import missing_library
from viva.plugins.report.rendering import REPORTS_NEED

if TYPE_CHECKING:
    from mistune import HTMLRenderer, InlineParser, Markdown

_PLUGINS: Final = ("strikethrough", "table", "url", "def_list")
_TITLE: Final = r"^ {0,3}(?P<atx_1>#{1,6})(?!#+)(?P<atx_2>[ \t]*(.*?)?)$"
"""A heading; in notebooks it needs no space: `#Title`."""
_NO_PLAIN_TAG: Final = re.compile(
    r"<(?!/?(?:b|br|code|del|em|i|kbd|li|mark|ol|p|s|small|strong|sub|sup|u|ul)[ \t]*/?>)", re.IGNORECASE
)


def as_html(text: str, *, keep: bool = False) -> str:
    """Convert Markdown to HTML.

    Args:
        text: Markdown, untrusted.
        keep: whether everything that was typed must stay visible: line breaks break lines, `a*b*c` and `p<q and r>s`
            stay as they are, and no tag, picture or link definition hides words.

    Raises:
        UsageError: mistune is not installed.
    """
    try:
        import mistune  # noqa: F401
    except ImportError as error:
        raise missing_library(REPORTS_NEED, error.name, "report") from None
    return str((_keeping() if keep else _usual())(text))


@cache
def _usual() -> "Markdown":
    from mistune import HTMLRenderer, InlineParser

    class Usual(_Coloured, HTMLRenderer):
        """The renderer of mistune with highlighted code; unsafe HTML is left to the sanitiser."""

    return _markdown(Usual(escape=False, allow_harmful_protocols=True), InlineParser(), "task_lists")


@cache
def _keeping() -> "Markdown":
    from mistune import HTMLRenderer, InlineParser, InlineState, escape

    class Keeping(_Coloured, HTMLRenderer):
        def inline_html(self, html: str) -> str:
            return _NO_PLAIN_TAG.sub("&lt;", html)

        def block_html(self, html: str) -> str:
            return f"<p>{self.inline_html(html.strip()).replace(chr(10), '<br>')}</p>\n"

        def image(self, text: str, url: str, title: str | None = None) -> str:
            return super().image(text, url, title) if url.startswith("data:image/") else escape(f"![{text}]({url})")

    class Words(InlineParser):
        def parse_emphasis(self, m: re.Match[str], state: InlineState) -> int:
            before, after = state.src[m.start() - 1 : m.start()], state.src[m.end() : m.end() + 1]
            if not (before.isalnum() and after.isalnum()):
                return super().parse_emphasis(m, state)
            state.append_token({"type": "text", "raw": m.group(), "_emphasis": False})
            return m.end()

    markdown = _markdown(Keeping(escape=False, allow_harmful_protocols=True), Words(hard_wrap=True))
    for rules in (markdown.block.rules, markdown.block.list_rules, markdown.block.block_quote_rules):
        rules.remove("ref_link")
    return markdown


def _markdown(renderer: "HTMLRenderer", inline: "InlineParser", *more: str) -> "Markdown":
    from mistune import BlockParser, Markdown
    from mistune.plugins import import_plugin

    class Blocks(BlockParser):
        SPECIFICATION = BlockParser.SPECIFICATION | {"atx_heading": _TITLE}

    return Markdown(renderer, Blocks(), inline, [import_plugin(name) for name in (*_PLUGINS, *more)])


class _Coloured:
    """Highlights code whose language is named; other words next to the name are shown above the code."""

    def block_code(self, code: str, info: str | None = None) -> str:
        from mistune import escape

        language, *more = (info or "").split(maxsplit=1) or [""]
        block = _coloured(code, language) if language else f"<pre><code>{escape(code)}</code></pre>\n"
        return "".join([*(f"<p>{escape(words)}</p>\n" for words in more), block])


def _coloured(code: str, language: str) -> str:
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return str(highlight(code, get_lexer_by_name(language), HtmlFormatter()))
    except ClassNotFound:
        from mistune import escape

        return f"<pre><code>{escape(language)}\n{escape(code)}</code></pre>\n"
