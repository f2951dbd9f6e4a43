"""The executed notebook of a submission: the submitted notebook with the outputs of its cells in the box.

The outputs came with the reply to the load, before any test had asked the box anything: nothing that tests send can be
in them. They are untrusted values like all that a box sends, so they are checked for form and bounded before they are
kept.
"""

from viva.examiner.executed.executed_notebook import MOST_BYTES, executed_notebook

__all__ = ["MOST_BYTES", "executed_notebook"]
