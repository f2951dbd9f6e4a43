"""BERT, LoRA and constrained generation: fill in the functions; the handout says what each takes and returns."""

import numpy as np


# Question 1


# Question 2a
