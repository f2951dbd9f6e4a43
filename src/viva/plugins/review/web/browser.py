"""Open the browser without revealing the token to other users, who can list command lines."""

import contextlib
import html
import os
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={0}">
<meta name="referrer" content="no-referrer"><title>viva review</title></head>
<body><p><a href="{0}">To the answers</a></p></body></html>
"""


@contextlib.contextmanager
def open_in_browser(address: str) -> Iterator[None]:
    """Open the address in the browser by a file that only its owner can read, and remove the file at the end."""
    with tempfile.TemporaryDirectory(prefix="viva-review-") as folder:  # made with mode 0700
        page = Path(folder, "review.html")
        with os.fdopen(os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(_PAGE.format(html.escape(address)))
        # A browser in the terminal blocks the call until it is closed.
        threading.Thread(target=_open, args=[page.as_uri()], daemon=True).start()
        yield


def _open(uri: str) -> None:
    if not webbrowser.open(uri):
        print("viva: no browser could be opened: open the address yourself.", file=sys.stderr, flush=True)
