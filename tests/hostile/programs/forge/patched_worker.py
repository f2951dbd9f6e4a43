"""Takes over the worker, by gc, modules and frames, so that every operation and every reply is one of its own choice."""

# turns: 4
import gc
import itertools
import sys

from toolkit import TARGETS, answer_everything

CHOICES = [
    True,
    None,
    float("nan"),
    {"found": True, "callable": True, "kind": "function", "close": []},
    {"value": True, "args_after": [[], {}], "printed": "", "raised": None, "wall_s": 0.0},
    {"value": 1, "args_after": [[1], []], "printed": 5, "raised": {"type": 3}, "wall_s": "soon"},
    {"status": "passed", "score": 10, "earned": 10},
    "passed",
    [[]],
    {"errors": 3, "skipped": {}, "cells": 4},
]
choose = itertools.cycle(CHOICES[TARGETS["turn"] :]).__next__


def patch_operations():
    """Replace what answers each kind of question: any table of functions that knows how to load and to call."""
    taken = 0
    for thing in gc.get_objects():
        if isinstance(thing, dict) and {"load_module", "call", "find"} <= set(map(str, thing)):
            for name in list(thing):
                thing[name] = lambda *request: choose()
                taken += 1
    return taken


def patch_replies():
    """Replace every function and method of the engine that sounds as if a reply passed through it."""
    taken = 0
    for module in list(sys.modules.values()):
        space = getattr(module, "__dict__", {})
        if not str(space.get("__name__", "")).startswith("viva_box"):
            continue
        for owner, names in [
            (module, space),
            *((kind, vars(kind)) for kind in space.values() if isinstance(kind, type)),
        ]:
            for name in ("_reply", "reply", "describe", "encode", "_call", "_find"):
                if callable(names.get(name)):
                    setattr(owner, name, lambda *arguments, **named: {"ok": choose()})
                    taken += 1
    return taken


answer_everything(globals(), lambda name: "passed")
if not (patch_operations() if TARGETS["turn"] < 2 else patch_replies()):
    raise NameError("nothing was found to take over")
