"""Render the templates of `viva review`, with the values that all pages need."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from viva.plugins.report import rendering, safe_html
from viva.plugins.review.leases import Marker
from viva.plugins.review.queue import ReviewQueue
from viva.plugins.review.web.static_files import address

if TYPE_CHECKING:
    from markupsafe import Markup

_TEMPLATES: Final = Path(__file__).with_name("templates")


def _render_handout(text: str) -> "Markup":
    return safe_html.render_text(text, html=True)


def page(template: str, queue: ReviewQueue, marker: Marker, csrf: str, **values: object) -> str:
    """Render a page, or a part of one."""
    environment = rendering.environment(_TEMPLATES)
    environment.filters.setdefault("prose", _render_handout)
    made = environment.get_template(template)
    return made.render(queue=queue, assignment=queue.assignment, marker=marker, csrf=csrf, static=address, **values)
