"""Notebooks as Jupyter, Colab and their users leave them; a module is first turned into a notebook."""

import json
from collections import Counter
from collections.abc import Callable

from tests.support.deformations import deformation
from tests.support.editable_submission import (
    HandIn,
    as_notebook,
    cells_of,
    code_cell,
    functions_in,
    markdown_cell,
    parsed,
    text_of,
    with_cells,
)

Cells = list[dict[str, object]]


def of_cells(change: Callable[[Cells], Cells]) -> Callable[[HandIn], HandIn | None]:
    """A deformation from what it does to the cells."""

    def deform(work: HandIn) -> HandIn | None:
        notebook = as_notebook(work)
        if notebook is None:
            return None
        [main] = notebook.mains
        data = notebook.files[main]
        return notebook.having({main: with_cells(data, change(cells_of(data)))})

    deform.__name__, deform.__doc__ = change.__name__, change.__doc__
    return deformation(deform)


def _before_the_first(cells: Cells, code: str) -> Cells:
    at = next(index for index, cell in enumerate(cells) if cell["cell_type"] == "code")
    return [*cells[:at], {**cells[at], "source": f"{code}\n{text_of(cells[at])}"}, *cells[at + 1 :]]


@of_cells
def shell_lines(cells: Cells) -> Cells:
    """The first cell installs and downloads before it imports."""
    return _before_the_first(
        cells,
        "!pip install -q transformers datasets\n!wget -q https://example.org/train.tsv\n!nvidia-smi\n"
        "%cd /content/hw1\n%matplotlib inline\n%load_ext autoreload\n%autoreload 2\n%reset -f\n"
        "%env TOKENIZERS_PARALLELISM=false\nlisting = !ls",
    )


@of_cells
def out_of_order(cells: Cells) -> Cells:
    """Functions are used before they are defined, in a session where the cells were run in another order."""
    counts = Counter(f.name for cell in cells if cell["cell_type"] == "code" for f in functions_in(text_of(cell)))
    movable = [index for index, cell in enumerate(cells) if _only_functions(cell, counts)]
    changed = list(cells)
    for index, other in zip(movable, reversed(movable), strict=True):
        changed[index] = cells[other]
    for number, cell in enumerate(changed):
        if cell["cell_type"] == "code":
            changed[number] = {**cell, "execution_count": (number * 37) % 101}
    names = [f.name for index in movable for f in functions_in(text_of(cells[index]))]
    uses = [code_cell(f"print({name}([1, 2], 3))") for name in names[:5]]
    return [*changed[:1], *uses, *changed[1:]]


def _only_functions(cell: dict[str, object], counts: Counter[str]) -> bool:
    """Functions alone, each defined once in the notebook, with nothing that is evaluated when they are defined."""
    tree = parsed(text_of(cell)) if cell["cell_type"] == "code" else None
    functions = functions_in(text_of(cell)) if tree else []
    simple = all(
        counts[f.name] == 1
        and not f.decorator_list
        and "typing" not in ast_names(f)
        and all(parsed_constant(default) for default in [*f.args.defaults, *f.args.kw_defaults])
        and not any(a.annotation for a in [*f.args.args, *f.args.kwonlyargs])
        and f.returns is None
        for f in functions
    )
    return bool(tree and functions and len(functions) == len(tree.body) and simple)


def ast_names(node: object) -> set[str]:
    """The names that a syntax tree reads."""
    import ast

    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} if isinstance(node, ast.AST) else set()


def parsed_constant(default: object) -> bool:
    """Whether a default reads no name."""
    return not ast_names(default)


@of_cells
def outputs_of_another_run(cells: Cells) -> Cells:
    """Saved outputs belong to an earlier version: errors, pictures, widgets, other numbers."""
    error = {"output_type": "error", "ename": "NameError", "evalue": "name 'x' is not defined", "traceback": ["…"]}
    picture = {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo="}, "metadata": {}}
    text = {"output_type": "stream", "name": "stdout", "text": ["accuracy 0.99\n"] * 50}
    strange = {"output_type": "execute_result", "data": {"application/vnd.jupyter.widget-view+json": {}}}
    return [
        {**cell, "outputs": [error, picture, text, strange], "execution_count": 900 - n}
        if cell["cell_type"] == "code"
        else cell
        for n, cell in enumerate(cells)
    ]


@of_cells
def earlier_versions(cells: Cells) -> Cells:
    """Before each function stands an old version of it that is wrong."""
    changed: Cells = []
    for cell in cells:
        functions = functions_in(text_of(cell)) if cell["cell_type"] == "code" else []
        changed += [code_cell(f"def {f.name}(*args, **kwargs):\n    return None  # TODO") for f in functions]
        changed.append(cell)
    return changed


@of_cells
def empty_cells(cells: Cells) -> Cells:
    """Empty cells, cells with comments alone, raw cells, formulas and pictures in Markdown."""
    between: Cells = [
        code_cell(""),
        code_cell("   \n\n"),
        code_cell("# TODO: write this up"),
        markdown_cell("$$\\mathrm{softmax}(z)_i = \\frac{e^{z_i}}{\\sum_j e^{z_j}}$$ ![loss](attachment:loss.png)"),
        {"cell_type": "raw", "metadata": {}, "source": "def broken(:"},
        {**markdown_cell(""), "attachments": {"loss.png": {"image/png": "iVBORw0KGgo="}}},
    ]
    return [part for cell in cells for part in (*between, cell)]


@of_cells
def colab_forms(cells: Cells) -> Cells:
    """Titles and form fields of Colab in the code, and its metadata on every cell."""
    return [
        {
            **cell,
            "source": f"#@title Step {n} {{ display-mode: 'form' }}\nstep_{n} = {n} #@param {{type:'slider'}}\n"
            + text_of(cell),
            "metadata": {"id": "abc", "colab": {"base_uri": "https://localhost:8080/"}, "cellView": "form"},
        }
        if cell["cell_type"] == "code"
        else cell
        for n, cell in enumerate(cells)
    ]


@of_cells
def lines_and_texts(cells: Cells) -> Cells:
    """Sources in lines, as Jupyter writes them; no ids, no metadata, no outputs."""
    kept = {"cell_type", "source"}
    return [
        {**{k: v for k, v in cell.items() if k in kept}, "source": text_of(cell).splitlines(keepends=True)}
        for cell in cells
    ]


@deformation
def notebook_of_format_3(work: HandIn) -> HandIn | None:
    """A notebook in the format of 2013."""
    notebook = as_notebook(work)
    if notebook is None:
        return None
    [main] = notebook.mains
    cells = [
        {"cell_type": "code", "input": text_of(c), "language": "python", "outputs": [], "collapsed": False}
        if c["cell_type"] == "code"
        else {"cell_type": c["cell_type"], "source": text_of(c), "metadata": {}}
        for c in cells_of(notebook.files[main])
    ]
    old = {"metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": cells}]}
    return notebook.having({main: json.dumps(old).encode()})


@deformation
def kernel_of_r(work: HandIn) -> HandIn | None:
    """The metadata name a kernel for R."""
    notebook = as_notebook(work)
    if notebook is None:
        return None
    [main] = notebook.mains
    kernel = {"name": "ir", "display_name": "R", "language": "R"}
    whole = json.loads(notebook.files[main]) | {"metadata": {"kernelspec": kernel, "language_info": kernel}}
    return notebook.having({main: json.dumps(whole).encode()})


@deformation
def unnamed_notebook(work: HandIn) -> HandIn | None:
    """The notebook has the name that Jupyter gave it."""
    notebook = as_notebook(work)
    if notebook is None:
        return None
    [main] = notebook.mains
    files = {path: data for path, data in notebook.files.items() if path != main}
    return HandIn({**files, "Untitled7.ipynb": notebook.files[main]}, ("Untitled7.ipynb",), notebook.torch)
