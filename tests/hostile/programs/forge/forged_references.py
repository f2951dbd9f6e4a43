"""Replies with references to objects that do not exist, of types that it makes up."""

import sys

from toolkit import answer_everything, frame, send_raw, wire_module

wire = wire_module()


def forged(name):
    if wire is not None and hasattr(wire, "Ref"):
        for number in (-1, 0, 2**62, 10**6):
            for kind in ("float", "ndarray", "bool", "x" * 100_000):
                try:
                    send_raw(frame({"ok": wire.Ref(number, kind, "equal to everything")}))
                except (TypeError, ValueError):
                    sys.exc_info()
    return object()


answer_everything(globals(), forged, answers=False)
