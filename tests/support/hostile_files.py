"""What hostile folders are made of: solutions that deserve nothing, code that would be found out, odd files."""

import base64
import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

NAMES = ["number", "array", "text", "table", "fill", "items"]
ZERO = "def number(*arguments):\n    return 0.0\n\n\narray = text = table = items = fill = number\n"
"""A solution that is never right."""
BROKEN_OUT = "nightingale-" + "0" * 16
"""A secret that no one has: who tells it has reached what no box may reach."""


def telling(look: str) -> str:
    """A solution that answers every question with what the expression `look` finds, in as many ways as there are.

    `read(path)` returns a file's text, or nothing.
    """
    return f"""
import os


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read(1 << 20).decode("latin-1")
    except OSError:
        return ""


def number(*arguments):
    found = {look}
    print(found)
    raise ValueError(found)


def text(*arguments):
    return {look}


array = table = items = fill = number
"""


def evil(targets: Mapping[str, Any]) -> str:
    """Code that leaves a file next to the course when anything but a box executes it."""
    return f"import os\nos.close(os.open({targets['base'] + '/executed'!r}, os.O_CREAT | os.O_WRONLY))\n"


def raw(data: bytes) -> dict[str, str]:
    """A file of these bytes."""
    return {"bytes": base64.b64encode(data).decode()}


def notebook(*sources: str, **changes: Any) -> str:
    """A notebook of code cells, with anything else that its file should say."""
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "id": f"c{n}", "metadata": {}, "source": source, "outputs": [], "execution_count": None}
        for n, source in enumerate(sources)
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **changes})


def zipped(members: Mapping[str, bytes], modes: Mapping[str, int] | None = None) -> bytes:
    """A zip archive with these members, under exactly these names."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            member = zipfile.ZipInfo("x")
            member.filename = name
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = (modes or {}).get(name, 0o100644) << 16
            archive.writestr(member, content)
    return data.getvalue()
