"""Render the templates of `viva review`, with the values that all pages need."""

from pathlib import Path
from typing import Any, Final

from viva.report import rendering
from viva.review.leases import Marker
from viva.review.queue import Desk
from viva.review.web.static_files import address

_TEMPLATES: Final = Path(__file__).with_name("templates")


def page(template: str, desk: Desk, marker: Marker, csrf: str, **values: Any) -> str:
    """Render a page, or a part of one."""
    made = rendering.environment(_TEMPLATES).get_template(template)
    return made.render(desk=desk, assignment=desk.assignment, marker=marker, csrf=csrf, static=address, **values)
