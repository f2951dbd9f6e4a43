"""The style sheets and scripts of the pages, read once, with addresses that change with their content."""

import hashlib
import mimetypes
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from viva.plugins.report.rendering import style_sheet

PREFIX: Final = "/static/"
FOREVER: Final = "private, max-age=31536000, immutable"
"""An address with a digest always has the same content."""
_FOLDER: Final = Path(__file__).with_name("static")


@cache
def read_files() -> dict[str, bytes]:
    """Read all static files by name, including the style sheet of the reports.

    No request opens a file: a name that is not in this mapping does not exist.
    """
    files = {path.name: path.read_bytes() for path in _FOLDER.iterdir() if path.is_file()}
    return {**files, "style.css": style_sheet().encode()}


@cache
def _digest(name: str) -> str:
    return hashlib.sha256(read_files()[name]).hexdigest()[:16]


def address(name: str) -> str:
    """Return the address of a file for a page: `/static/plain.css?v=…`."""
    return f"{PREFIX}{quote(name)}?v={_digest(name)}"


async def send_static(request: Request) -> Response:
    """Return a static file."""
    name = request.path_params["name"]
    if name not in read_files():
        return PlainTextResponse("There is no such file: load the page again.", 404)
    if request.query_params.get("v") == _digest(name):
        request.scope["viva.cache"] = FOREVER
    return Response(read_files()[name], media_type=mimetypes.guess_type(name)[0] or "text/plain")
