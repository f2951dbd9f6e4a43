"""Answers that are not code: choices, numbers, formulas and tables by hand."""

from viva.compare.answers.choice import agree_choice
from viva.compare.answers.formula import agree_formula
from viva.compare.answers.json_text import agree_json
from viva.compare.answers.number import agree_number
from viva.compare.answers.table import agree_table

__all__ = ["agree_choice", "agree_formula", "agree_json", "agree_number", "agree_table"]
