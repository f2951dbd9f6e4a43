"""What hostile programs share; it lies next to each of them in the box, as it would in a dishonest class."""

import gc
import io
import json
import os
import re
import socket
import sys

NAMES = ["number", "array", "text", "table", "fill", "items", "Model"]
"""What the tests ask for."""
ANSWERS = ["1.1", "1.2", "1.3", "1.4", "1.5"]
"""Answers that are not code."""
with open("targets.json") as _file:
    TARGETS = json.load(_file)
"""All that a student could ever find out about the grader: paths, process ids, ports, the tier."""
_MARKS = re.compile(rb"nightingale-[0-9a-f]{16}")


def marks(found):
    """The secrets in what was found, so that they fit into any message."""
    if isinstance(found, str):
        found = found.encode("utf-8", "replace")
    return sorted({mark.decode() for mark in _MARKS.findall(found)})


def read(path, most=1 << 20):
    """The secrets in a file, or nothing."""
    try:
        with open(path, "rb") as file:
            return marks(file.read(most))
    except OSError:
        return []


def tell(space, loot):
    """Carry the loot out by every way there is: values, exceptions, prints, names, reprs, the standard streams."""
    text = " ".join(loot) or "nothing found"
    print(text)
    os.write(2, text.encode() + b"\n")

    def raising(*arguments, **named):
        raise ValueError(text)

    class Told:
        def __repr__(self):
            return text

        __str__ = __repr__

    Told.__name__ = Told.__qualname__ = text.replace("-", "_")
    space["number"] = lambda x: text
    space["array"] = lambda x: loot
    space["table"] = lambda words: {text: 1}
    space["text"] = raising
    space["fill"] = lambda numbers: (print(text), numbers.append(text))
    space["items"] = lambda n: [Told()] * n
    space["Model"] = type(text.replace("-", "_"), (), {"size": text, "__init__": raising})
    space["answers"] = dict.fromkeys(ANSWERS, text)
    space[text.replace("-", "_")] = text


def answer_everything(space, answer, answers=True):
    """Define every name that the tests ask for, so that it answers with `answer(name)`."""
    for name in NAMES:
        space[name] = lambda *arguments, _name=name, **named: answer(_name)
    if answers:
        space["answers"] = {number: answer("answer") for number in ANSWERS}


def wire_sockets():
    """The sockets that lead to the examiner: as descriptors of our own, each once."""
    found, known = [], set()
    for fd in range(256):
        try:
            inode = os.fstat(fd).st_ino
            if inode in known:
                continue
            duplicate = socket.socket(fileno=os.dup(fd))
        except OSError:
            continue
        known.add(inode)
        if duplicate.family == socket.AF_UNIX:
            found.append(duplicate)
        else:
            duplicate.close()
    return found


def wire_module():
    """The engine's own encoder, wherever it hides."""
    for name, module in list(sys.modules.items()):
        if name.endswith("wire") and hasattr(module, "send"):
            return module
    for thing in gc.get_objects():
        if isinstance(thing, dict) and "send" in thing and str(thing.get("__name__", "")).endswith("wire"):
            return type("Found", (), {k: staticmethod(v) for k, v in thing.items() if callable(v)})
    return None


class Recorder:
    """Stands for a socket and keeps what is sent."""

    def __init__(self):
        self.data = io.BytesIO()

    def sendall(self, data):
        self.data.write(data)

    def send(self, data):
        return self.data.write(data)

    def sendmsg(self, buffers, *_):
        return sum(self.data.write(part) for part in buffers)

    def settimeout(self, _):
        pass

    def gettimeout(self):
        return None

    def fileno(self):
        return -1


def frame(value):
    """A whole message as the engine itself would write it; made by hand where the encoder cannot be had."""
    wire = wire_module()
    recorder = Recorder()
    if wire is not None:
        try:
            wire.send(recorder, value)
        except TypeError:
            wire.send(recorder, value, None)
        return recorder.data.getvalue()
    import msgpack

    body = msgpack.packb(value, use_bin_type=True)
    return header(len(body)) + body


def header(size, buffers=()):
    """The first bytes of a message: magic, length, number of buffers and their lengths."""
    import struct

    wire = wire_module()
    magic = getattr(wire, "MAGIC", 0x56495641)
    magic = magic if isinstance(magic, int) else int.from_bytes(magic, "big")
    lengths = b"".join(struct.pack(">Q", length) for length in buffers)
    return struct.pack(">III", magic, size, len(buffers)) + lengths


def send_raw(data):
    """Write to the examiner behind the worker's back."""
    for wire in wire_sockets():
        try:
            wire.sendall(data)
        except OSError:
            pass


def letter(content, buffers=()):
    """A whole message made by hand: what is to be packed, in the engine's own notation, and the bytes next to it."""
    import msgpack

    body = msgpack.packb(content, use_bin_type=True, unicode_errors="surrogatepass")
    return header(len(body), [len(buffer) for buffer in buffers]) + body + b"".join(buffers)


def reply_once(content, buffers=()):
    """Reply to the question under way with a value of our own making, as the last thing that this process does."""
    send_raw(letter({"d": ["ok", content]}, buffers))
    os._exit(0)
