"""Replies with texts that are not texts: bytes that are not UTF-8, halves of characters, code points beyond the last."""

import msgpack

from toolkit import answer_everything, header, reply_once, send_raw

WIDE = {"a": ["<U1", [4], b"\xff\xff\xff\x7f" * 4]}


def unreadable(name):
    if name in ("number", "text"):
        body = msgpack.packb({"d": ["ok", b"text"]}, use_bin_type=False)
        for bad in (b"\xff\xfe\xc0\x80", b"\xed\xa0\x80t"):
            send_raw(header(len(body)) + body.replace(b"text", bad))
    reply_once({"array": WIDE, "items": ["\ud83d", "\ude00"] * 50_000, "table": {"d": ["\ud800", "\udfff"]}}.get(name))


answer_everything(globals(), unreadable, answers=False)
