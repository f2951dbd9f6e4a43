"""Replies with what only the examiner may send, or no one: tensors, timestamps, maps of several tags, odd references."""

import msgpack

from toolkit import answer_everything, reply_once

CONTENTS = {
    "number": {"T": ["float32", "<f4", [1], b"\0\0\x80?"]},
    "array": msgpack.Timestamp(2**33, 999_999_999),
    "text": {"r": [0, "float\ud800\u202e\x1b]0;x\x07", "\udfff" * 100_000]},
    "table": {"d": [], "t": []},
    "fill": {"r": [-(2**63), "__class__", "{0.__class__}%s%n"]},
    "items": [{"r": [n, "float", "1.0"]} for n in range(60_000)],
    "Model": {"r": [1, "x" * 3_000_000, ""]},
}
answer_everything(globals(), lambda name: reply_once(CONTENTS.get(name)), answers=False)
