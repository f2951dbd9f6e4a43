"""Turn untrusted text into HTML that is safe to show: Markdown, highlighted code, formulas without a script.

The result has no script, handler, style, form, frame or id, no address except http, https and mailto, and no class
except those of highlighted code.
"""

import re
import secrets
from collections.abc import Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Final

from viva.formats import escaping
from viva.model.errors import UsageError
from viva.model.extras import missing_library
from viva.plugins.report.formulas import convert_formula
from viva.plugins.report.rendering import REPORTS_NEED

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict
    from markupsafe import Markup

MAX_RENDERED: Final = 20_000
"""The maximum number of characters of a text that is rendered; a longer one is shown as plain text."""
MAX_FORMULAS: Final = 500
"""Formulas of one text; finding more of them takes long."""
MAX_WRITTEN: Final = 1_000_000
"""The maximum number of characters of an answer: more than a result can hold, since its marker must see all of it."""
_TAGS: Final = frozenset({
    "a", "abbr", "b", "blockquote", "br", "caption", "code", "dd", "del", "div", "dl", "dt", "em", "hr", "i", "img",
    "ins", "kbd", "li", "mark", "ol", "p", "pre", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "table",
    "tbody", "td", "tfoot", "th", "thead", "tr", "u", "ul", "var",
})  # fmt: skip
_ATTRIBUTES: Final[dict[str, set[str]]] = {
    "*": set(),  # nothing for all elements: the library's default allows some
    "a": {"href", "title"},
    "img": {"src", "width", "height"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan"},
    "ol": {"start"},
}
_REMOVED_WITH_CONTENT: Final = frozenset({
    "script", "style", "template", "svg", "math", "iframe", "object", "embed", "noscript", "noembed", "noframes",
    "xmp", "title", "textarea", "select",
})  # fmt: skip
_NUMBER: Final = re.compile(r"[0-9]{1,4}")
_VALUES: Final = {
    "src": re.compile(r"data:image/(?:png|jpeg|gif);base64,[A-Za-z0-9+/\s]{1,20000000}={0,2}\s*"),
    "href": re.compile(r"(?:https?://|mailto:)\S{1,2000}", re.IGNORECASE),
    "title": re.compile(r".{0,2000}"),
}
"""The form of an attribute's value; all others are numbers."""
_HEADING: Final = re.compile(r"<(/?)h[1-6](?:\s[^<>]{0,1000})?>", re.IGNORECASE)
_ALTERNATIVE: Final = "picture in the notebook"
_DISPLAY: Final = re.compile(r"\\\[(.+?)\\\]", re.DOTALL)
_STARS: Final = re.compile(r"(?<=\w)\*+(?=\w)")


def render_text(text: str, *, html: bool = False) -> "Markup":
    r"""Render Markdown with formulas: `$…$`, `$$…$$`, `\(…\)`, `\[…\]`, `\begin{align}…\end{align}`.

    A text that is longer than `MAX_RENDERED`, or may hold more than `MAX_FORMULAS`, is shown as plain text, and a
    formula that cannot be drawn by its source.

    Args:
        text: untrusted.
        html: whether the text is a cell of a notebook, in which HTML and link definitions mean what they mean in
            Jupyter. In an answer, all that was typed stays visible, and line breaks break lines.

    Raises:
        UsageError: markdown-it-py, mdit-py-plugins, latex2mathml or nh3 is not installed.
    """
    from markupsafe import Markup

    signs = sum(map(text.count, (r"\(", r"\[", r"\begin")))
    if len(text) > MAX_RENDERED or signs + text.count("$") // 2 > MAX_FORMULAS:
        return as_text(text)
    placeholder = f"viva{secrets.token_hex(8)}x"  # random, so that no text can contain it
    formulas: list[str] = []
    cleaned = escaping.terminal(text, characters=MAX_RENDERED, lines=MAX_RENDERED)
    parser = _build_parser(html)
    try:
        markup = parser.render(cleaned, {"placeholder": placeholder, "formulas": formulas})
    except UsageError:  # a library is missing
        raise
    except Exception:  # of a parser that reads what a student wrote; whoever grades it must see it nevertheless
        return as_text(text)
    safe = sanitize(markup, placeholder)
    return Markup(re.sub(rf"{placeholder}(\d+)x", lambda match: formulas[int(match[1])], safe))  # noqa: S704


def as_text(text: str) -> "Markup":
    """Return a text as a `pre` element."""
    from markupsafe import Markup

    return Markup("<pre>{}</pre>").format(escaping.terminal(text, characters=MAX_WRITTEN, lines=MAX_WRITTEN))


def highlight_code(code: str, language: str) -> str:
    """Return code as a `pre` element with highlighting; an unknown language is shown above the code. Not sanitized."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return str(highlight(code, get_lexer_by_name(language), HtmlFormatter()))
    except ClassNotFound:
        return f"<pre><code>{escape(language)}\n{escape(code)}</code></pre>"


def sanitize(html: str, placeholder: str = "") -> str:
    """Remove active content from HTML; the result is well-formed, so that it cannot close the element around it.

    Headings become bold lines, so that the outline of the page stays its own.

    Args:
        html: untrusted.
        placeholder: begins what is replaced by formulas later; no attribute with it stays.

    Raises:
        UsageError: nh3 is not installed.
    """
    try:
        import nh3
    except ImportError as error:
        raise missing_library(REPORTS_NEED, error.name, "report") from None

    def filter_attribute(_tag: str, name: str, value: str) -> str | None:
        if name in ("class", "alt", "rel"):  # the values come from this function
            return value
        if (placeholder and placeholder in value) or not _VALUES.get(name, _NUMBER).fullmatch(value):
            return None
        return value

    safe = nh3.clean(
        _HEADING.sub(lambda match: "</strong></p>" if match[1] else "<p><strong>", html),
        tags=set(_TAGS),
        clean_content_tags=set(_REMOVED_WITH_CONTENT),
        attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()},
        attribute_filter=filter_attribute,
        allowed_classes={"span": set(_list_highlight_classes()), "div": {"highlight"}},
        set_tag_attribute_values={"img": {"alt": _ALTERNATIVE}},
        url_schemes={"http", "https", "mailto", "data"},
        link_rel="noopener noreferrer nofollow",
    )
    return safe.replace(f'<img alt="{_ALTERNATIVE}">', "(a picture was left out)")


@cache
def _list_highlight_classes() -> frozenset[str]:
    from pygments.token import STANDARD_TYPES

    return frozenset(filter(None, STANDARD_TYPES.values()))


@cache
def _build_parser(html: bool) -> "MarkdownIt":  # noqa: FBT001  # a key of the cache
    try:
        from markdown_it import MarkdownIt
        from mdit_py_plugins.amsmath import amsmath_plugin
        from mdit_py_plugins.dollarmath import dollarmath_plugin
        from mdit_py_plugins.texmath import texmath_plugin
    except ImportError as error:
        raise missing_library(REPORTS_NEED, error.name, "report") from None
    parser = MarkdownIt("commonmark", {"html": html, "breaks": not html}).enable(["table", "strikethrough"])
    if not html:
        parser.disable("reference")  # a link definition is not displayed
    parser.use(texmath_plugin, delimiters="brackets")
    # As in pandoc: no space within single dollars, and no digit after them, so that prices are not formulas.
    parser.use(
        dollarmath_plugin,
        allow_labels=False, allow_space=False, allow_digits=False, allow_blank_lines=False, double_inline=True,
    )  # fmt: skip
    parser.use(amsmath_plugin)
    parser.inline.ruler.before("escape", "display", _parse_display)
    parser.inline.ruler.before("emphasis", "products", _keep_stars)
    for name in ("math_inline", "math_inline_double", "math_block", "math_block_eqno", "amsmath"):
        parser.add_render_rule(name, _render_formula)
    parser.add_render_rule("fence", _render_fence)
    parser.add_render_rule("image", _render_image)
    return parser


def _keep_stars(state: "StateInline", silent: bool) -> bool:  # noqa: FBT001  # as the parser calls it
    """Keep stars between letters or digits: `2*d*k` is a product, not an emphasis."""
    match = _STARS.match(state.src, state.pos)
    if match is None:
        return False
    if not silent:
        state.pending += match.group()
    state.pos = match.end()
    return True


def _parse_display(state: "StateInline", silent: bool) -> bool:  # noqa: FBT001  # as the parser calls it
    r"""Read `\[…\]` within a paragraph; the plugin reads it at the beginning of one."""
    match = _DISPLAY.match(state.src, state.pos)
    if match is None:
        return False
    if not silent:
        token = state.push("math_block", "math", 0)
        token.content, token.markup = match[1], r"\["
    state.pos = match.end()
    return True


def _render_formula(
    _renderer: "RendererHTML", tokens: "Sequence[Token]", index: int, _options: "OptionsDict", env: "EnvType"
) -> str:
    """Return a placeholder for a formula, which is sanitized on its own."""
    token = tokens[index]
    block = token.type != "math_inline"
    drawn = convert_formula(token.content, block=block)
    if drawn is None:
        end = {r"\(": r"\)", r"\[": r"\]"}.get(token.markup, token.markup)
        drawn = f'<code class="formula">{escape(token.markup + token.content.strip() + end)}</code>'
    elif block:  # a long formula scrolls by itself; `tabindex` lets keyboard users scroll it
        drawn = f'<span class="formula" role="group" aria-label="Formula" tabindex="0">{drawn}</span>'
    env["formulas"].append(drawn)
    return f"{env['placeholder']}{len(env['formulas']) - 1}x"


def _render_fence(
    _renderer: "RendererHTML", tokens: "Sequence[Token]", index: int, _options: "OptionsDict", _env: "EnvType"
) -> str:
    """Highlight code whose language is named; other words next to the name are shown above the code."""
    language, _, words = tokens[index].info.strip().partition(" ")
    above = f"<p>{escape(words)}</p>\n" if words else ""
    if not language:
        return f"<pre><code>{escape(tokens[index].content)}</code></pre>\n"
    return above + highlight_code(tokens[index].content, language)


def _render_image(
    renderer: "RendererHTML", tokens: "Sequence[Token]", index: int, options: "OptionsDict", env: "EnvType"
) -> str:
    """Show a picture that is in the text; of any other, the page shows what was typed."""
    token = tokens[index]
    address = str(token.attrs.get("src", ""))
    if address.startswith("data:image/"):
        return str(renderer.image(tokens, index, options, env))
    return escape(f"![{token.content}]({address})")
