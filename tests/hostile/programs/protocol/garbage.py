"""Writes random bytes, text and half messages to the examiner instead of replies."""

import os

from toolkit import answer_everything, frame, header, send_raw

LETTERS = {
    "number": os.urandom(1 << 16),
    "array": b"HTTP/1.1 200 OK\r\n\r\npassed",
    "text": frame({"ok": 1.0})[:-1] + b"\xc1",
    "table": header(4) + b"\xc1\xc1\xc1\xc1",
    "fill": header(0),
    "items": b"",
    "Model": header(1) + b"\x90",
}


def garbage(name):
    send_raw(LETTERS.get(name, b"\0" * 64))
    return 0.0


answer_everything(globals(), garbage, answers=False)
