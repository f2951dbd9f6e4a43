"""Run notebooks in the box, with IPython, with a kernel, or cell by cell."""
