"""Displays what is endless, what hangs when it is looked at, and what takes over the page on which it is shown."""

# makes a folder
from tests.support.hostile_files import ZERO, notebook

SHOW = """
from IPython.display import HTML, Javascript, display, update_display, clear_output
class Odd:
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": "<script>1</script>" * 100_000, "\\ud800/../x": "x", 7: 7, "application/json": {"a": self}}
    def _repr_html_(self): raise SystemExit
    def __repr__(self): return "nothing" * 10**7
display(Odd(), HTML("<iframe src=//x>"), Javascript("IPython.notebook.kernel.execute('1')"))
for n in range(2000):
    display(n, display_id="same"); update_display("x" * 1000, display_id="same"); clear_output()
Odd()
"""


def hand_in(targets):
    return {
        "work.ipynb": notebook(
            SHOW, ZERO, "from IPython.core.interactiveshell import InteractiveShell as S\nS.run_cell = 5"
        )
    }
