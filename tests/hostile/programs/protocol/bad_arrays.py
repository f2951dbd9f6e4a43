"""Replies with arrays whose shape, dtype and bytes contradict each other."""

import msgpack

from toolkit import answer_everything, frame, header, send_raw

SHAPES = [[-1], [2**62, 2**62], [0] * 65, [1 << 40], ["3"], [3.0], None, [[3]]]
DTYPES = ["|O", "O8", "V0", "f8,O", "<f999", "datetime64", "not a dtype", [["a", "O"]], 7, "<M8[25s]", "|S0"]
turn = iter(range(10**9))


def bad(name):
    """One valid message with an array in it, then the same with its description changed in every way we know."""
    import numpy as np

    k = next(turn)
    good = frame({"ok": np.zeros(3)})
    changed = [good.replace(b"<f8", dtype) for dtype in (b"|O8", b"<f2", b"|O ", b"<U9", b"\xff\xff\xff")]
    for code in range(16):
        for fields in ([DTYPES[k % len(DTYPES)], [3], 0], ["<f8", SHAPES[k % len(SHAPES)], 0], ["<f8", [3], 99]):
            body = msgpack.packb({"ok": msgpack.ExtType(code, msgpack.packb(fields))}, use_bin_type=True)
            changed.append(header(len(body), [24]) + body + b"\0" * 24)
    send_raw(changed[(7 * k) % len(changed)])
    return 0.0


answer_everything(globals(), bad, answers=False)
