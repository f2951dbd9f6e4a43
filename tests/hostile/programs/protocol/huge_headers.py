"""Announces messages of four gigabytes, of millions of buffers and of impossible lengths, and sends nothing."""

from toolkit import answer_everything, header, send_raw

LETTERS = {
    "number": header(0xFFFFFFFF),
    "array": header(16, [2**63 - 1]),
    "text": header(16)[:8] + b"\xff\xff\xff\xff",
    "table": header(16, [1 << 40] * 4),
    "fill": header(16, [1 << 20] * 5000),
    "items": header(1 << 30) + b"\xdd\xff\xff\xff\xff",
    "Model": header(5) + b"\xdd\xff\xff\xff\xff",
}


def announce(name):
    send_raw(LETTERS.get(name, b""))
    return 0.0


answer_everything(globals(), announce, answers=False)
