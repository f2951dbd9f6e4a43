"""Submits a notebook of brackets within brackets, of doubled lists of cells, of half characters and of huge numbers."""

# makes a folder
# turns: 4
from tests.support.hostile_files import ZERO, notebook


def hand_in(targets):
    book = notebook(ZERO)
    return {
        "work.ipynb": [
            book.replace('"metadata": {}', '"metadata": ' + '{"a":[' * 100_000 + "]}" * 100_000, 1),
            book[:-1] + ', "cells": [' + '{"cell_type":"code","source":"x=1"},' * 30_000 + "{}]}",
            book.replace('"source": "', '"source": "# \\ud83d \\udc00\\ud800\\n').replace("0.0", "1" + "0" * 4000),
            '{"cells": [' + '{"cell_type": "code", "source": ["' + '", "'.join(["x=1\\n"] * 400_000) + '"]}]}',
        ][targets["turn"]]
    }
