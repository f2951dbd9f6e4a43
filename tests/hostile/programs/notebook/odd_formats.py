"""Submits notebooks whose format numbers, kinds and counts are of every wrong type and size."""

# makes a folder
# turns: 2
import json

from tests.support.hostile_files import ZERO, notebook


def hand_in(targets):
    if targets["turn"]:
        return {
            "work.ipynb": '{"nbformat": 4'
            + "0" * 500_000
            + ', "cells": [], "cells": {"a": NaN}, "metadata": -Infinity}'
        }
    odd = json.loads(notebook(ZERO, nbformat=10**300, nbformat_minor=-1.5, metadata=["kernelspec"]))
    kinds = ["code\n", None, 7, {"code": 1}, ["code"], "CODE", "heading", "\ud800"]
    odd["cells"] += [{"cell_type": kind, "source": [["x"], {"a": 1}, None, 7], "level": 10**9} for kind in kinds]
    odd["cells"] += [None, 5, "cell", []]
    odd["cells"][0] |= {"execution_count": 10**400, "metadata": None, "outputs": {"a": 1}}
    return {"work.ipynb": json.dumps(odd)}
