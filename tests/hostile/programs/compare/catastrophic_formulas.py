"""Writes formulas that take forever to read, to compute or to compare."""

# turns: 8
from toolkit import ANSWERS, TARGETS

FORMULAS = [
    "9^9^9^9^9^9^9",
    "((((((((((" * 3000 + "n" + "))))))))))" * 3000,
    "n^" * 20_000 + "n",
    "+".join(["n*d"] * 30_000),
    "n!!!!!!!!!! + (n!)^(n!)^(n!)",
    "-" * 50_000 + "n",
    "\\frac{" * 2000 + "n" + "}{d}" * 2000,
    "sqrt(log(exp(" * 500 + "10^400n" + ")))" * 500 + " = " * 5000,
]
answers = dict.fromkeys(ANSWERS, FORMULAS[TARGETS["turn"]])
