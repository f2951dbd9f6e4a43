"""Render templates as pages: every value is cleaned and escaped, nothing is fetched, and no script can run.

jinja2 is imported when a page is rendered. A page contains one style sheet, which its Content-Security-Policy names by
its hash, so that injected styles are not applied.
"""

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from viva.formats import escaping
from viva.formats.decimal_points import show, signed
from viva.model.extras import missing_library

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

REPORTS_NEED: Final = "Reports need"
_TEMPLATES: Final = Path(__file__).with_name("templates")
_TEXT: Final = 20_000
"""The maximum number of characters of one value."""


def render(template: str, **values: object) -> bytes:
    """Render a template as a page.

    Raises:
        UsageError: jinja2 is not installed.
    """
    from_template = environment(_TEMPLATES).get_template(template)
    return from_template.render(**values, style=_style(), policy=policy()).encode("utf-8", "replace")


@cache
def policy() -> str:
    """Return the Content-Security-Policy of a page: its own style, pictures within the file, nothing else."""
    digest = base64.b64encode(hashlib.sha256(style_sheet().encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; "
        "script-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'"
    )


def number(value: float | None, digits: int = 2) -> str:
    """Format a number for a table, with a minus sign (−); None becomes a dash."""
    return "–" if value is None else f"{value:.{digits}f}".replace("-", "−")


def whole(text: str) -> str:
    """Return a text as one line of any length."""
    return escaping.line(text, characters=_TEXT)


def with_code(text: str) -> "Markup":
    """Return a title as HTML, in which what stands between backticks is code."""
    from markupsafe import Markup, escape

    parts = [escape(part) for part in escaping.line(text).split("`")]
    if len(parts) % 2 == 0:  # one without its partner
        return Markup("`").join(parts)
    is_code = [Markup("<code>{}</code>").format(part) if n % 2 else part for n, part in enumerate(parts)]
    return Markup("").join(is_code)


def percent(share: float) -> str:
    """Format a share as a whole percentage, which is 0 % or 100 % only if it is exactly that."""
    if 0 < share < 0.01:
        return "< 1 %"
    if 0.99 < share < 1:
        return "> 99 %"
    return f"{100 * share:.0f} %"


@cache
def style_sheet() -> str:
    """Return the style sheet of reports and feedback pages."""
    return (_TEMPLATES / "style.css").read_text("utf-8")


def _style() -> "Markup":
    from markupsafe import Markup

    return Markup(style_sheet())  # noqa: S704  # a file of this package; it contains no value of a submission


@cache
def environment(templates: Path) -> "Environment":
    """Return the jinja2 environment for the templates in a folder, in which every value is cleaned and escaped.

    Raises:
        UsageError: jinja2 is not installed.
    """
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise missing_library(REPORTS_NEED, error.name, "report") from None
    environment = Environment(
        autoescape=True,
        loader=FileSystemLoader(templates),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_cleaned,
    )
    environment.filters |= {
        "points": show,
        "number": number,
        "percent": percent,
        "line": escaping.line,
        "whole": whole,
        "signed": signed,
        "title": with_code,
    }
    return environment


def _cleaned(value: object) -> object:
    """Remove control characters from a text, and turn None into an empty text; other values stay as they are."""
    if value is None:
        return ""
    if type(value) is str:
        return escaping.terminal(value, characters=_TEXT, lines=_TEXT)
    return value
