"""Replies with pickles and extension types that a careless reader would turn into running code."""

import msgpack

from toolkit import TARGETS, answer_everything, header, send_raw

COMMAND = b"cos\nsystem\n(S'touch " + TARGETS["base"].encode() + b"/pwned'\ntR."
BODIES = [
    msgpack.packb({"ok": msgpack.ExtType(code, COMMAND)}, use_bin_type=True) for code in (0, 1, 5, 13, 42, 100, 127)
]
turn = iter(range(10**9))


def pickled(name):
    body = BODIES[next(turn) % len(BODIES)]
    send_raw(header(len(body)) + body)
    return 0.0


answer_everything(globals(), pickled, answers=False)
