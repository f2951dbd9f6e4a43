"""Run notebooks in the box: as plain Python, with IPython, with a kernel, or cell by cell."""
