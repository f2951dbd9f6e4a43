"""Answers that are not code: choices, numbers, formulas and tables, as students write them."""

from viva.examine.answers.choice import agree_choice
from viva.examine.answers.formula import agree_formula
from viva.examine.answers.number import agree_number
from viva.examine.answers.table import agree_table, share_of_cells

__all__ = ["agree_choice", "agree_formula", "agree_number", "agree_table", "share_of_cells"]
