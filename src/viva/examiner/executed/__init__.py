"""The executed notebook of a submission: what was handed in, with what its cells have put out in the box.

The outputs came with the reply to the load, before any test had asked the box anything: nothing that tests send can
stand in them. They are claims like all that a box says, so they are checked for form and bounded before they are kept.
"""

from viva.examiner.executed.executed_notebook import MOST_BYTES, executed_notebook

__all__ = ["MOST_BYTES", "executed_notebook"]
