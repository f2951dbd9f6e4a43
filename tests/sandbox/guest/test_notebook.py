"""Notebooks without a kernel: what cells put out, what costs what, with IPython and without."""

import base64
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.bare_worker import Forker, Worker, shown, text_of


@pytest.fixture(params=["plain", "shell"])
def runner(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Worker:
    """Both ways to run cells; the shell is forced by a cell that needs it."""
    worker: Worker = request.getfixturevalue({"plain": "worker", "shell": "shell_worker"}[request.param])
    if request.param == "shell":
        run = worker.notebook

        def run_in_shell(*sources: str, **fields: Any) -> list[dict[str, Any]]:
            return run(*sources, "%time None", **fields)[:-1]

        monkeypatch.setattr(worker, "notebook", run_in_shell)
    return worker


def kinds(cell: dict[str, Any]) -> list[str]:
    return [o["output_type"] for o in cell["outputs"]]


def test_cells_share_names(runner: Worker) -> None:
    cells = runner.notebook("x = 3", "def f(y):\n    return x + y", "x = 4")
    assert [c["status"] for c in cells] == ["ok"] * 3 and [c["number"] for c in cells] == [1, 2, 3]
    assert runner.call("f", 1) == 5
    assert runner.ask("names") == ["f", "x"]
    assert all(c["wall_s"] >= 0 and c["raised"] is None for c in cells)


def test_outputs_in_order(runner: Worker) -> None:
    [cell] = runner.notebook("""
        import sys
        print("a")
        print("b")
        print("c", file=sys.stderr)
        print("d", end="")
        [1, 2]
    """)
    assert cell["outputs"] == [
        {"output_type": "stream", "name": "stdout", "text": "a\nb\n"},
        {"output_type": "stream", "name": "stderr", "text": "c\n"},
        {"output_type": "stream", "name": "stdout", "text": "d"},
        {"output_type": "execute_result", "execution_count": 1, "data": {"text/plain": "[1, 2]"}, "metadata": {}},
    ]


def test_cell_that_raises(runner: Worker) -> None:
    cells = runner.notebook("def g():\n    return 1 / 0", "print('before')\ng()\nprint('after')", "x = 2\nx")
    assert [c["status"] for c in cells] == ["ok", "raised", "ok"]
    assert kinds(cells[1]) == ["stream", "error"] and text_of(cells[1]) == "before\n"
    raised = cells[1]["raised"]
    assert raised["type"] == "ZeroDivisionError"
    assert raised["frames"] == [["cell 2", 2, "<module>", "g()"], ["cell 1", 2, "g", "return 1 / 0"]]
    error = cells[1]["outputs"][1]
    assert (error["ename"], error["evalue"]) == ("ZeroDivisionError", "division by zero")
    lines = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in error["traceback"]]
    assert lines[-1] == "ZeroDivisionError: division by zero"
    assert any(re.match(r"cell 1, line 2|Cell In\[1\], line 2", line) for line in lines)
    assert shown(cells[2]) == ["2"]


def test_cell_that_is_no_python(runner: Worker) -> None:
    cells = runner.notebook("def f(:\n    pass", "x = 1\n  y = 2", "z = 3")
    assert [c["status"] for c in cells] == ["raised", "raised", "ok"]
    assert [c["raised"]["type"] for c in cells[:2]] == ["SyntaxError", "IndentationError"]
    assert runner.ask("names") == ["z"]


@pytest.mark.parametrize(
    "failing",
    [
        "import no_such_module, os",
        "1 / 0",
        "%load_ext no_such_extension",
        "def f(x: NoSuchType): pass\n1 / 0",
        "def broken(:\n    pass",
        "files = !no_such_command\n1 / 0",
    ],
)
def test_rest_of_failed_cell_is_defined(runner: Worker, failing: str) -> None:
    cells = runner.notebook(
        f"x = 0\n{failing}\nimport math\nprint('no')\ny = math.sqrt(4)\ndef g():\n    return y\nx += 1\n%time 1", "g()"
    )
    assert shown(cells[1]) == ["2.0"] and "no" not in text_of(cells[0]).split()


@pytest.mark.parametrize(
    "statement",
    ["import sys; sys.exit()", "raise KeyboardInterrupt", "def r(): r()\nr()", "exit()", "quit()"],
)
def test_exits_cost_only_their_cell(runner: Worker, statement: str) -> None:
    cells = runner.notebook(f"{statement}\nprint('after')", "x = 1")
    assert cells[1]["status"] == "ok" and runner.ask("names")[-1] == "x" and text_of(cells[0]) == ""
    if statement in ("exit()", "quit()"):
        assert cells[0]["raised"]["message"] == "the code called exit()"


def test_cell_that_hangs(runner: Worker) -> None:
    cells = runner.notebook("print('begun')\nwhile True: pass\ndef f():\n    return 5", "f()", cell_s=0.3)
    assert [c["status"] for c in cells] == ["timeout", "ok"] and shown(cells[1]) == ["5"]
    assert cells[0]["raised"]["limit"] == "time" and text_of(cells[0]) == "begun\n"
    assert 0.2 < cells[0]["wall_s"] < 60


def test_input_is_clear_error(runner: Worker) -> None:
    [cell] = runner.notebook("input('name? ')")
    assert cell["status"] == "raised" and "no one is there" in cell["raised"]["message"]


def test_endless_loop_around_input(runner: Worker) -> None:
    asks = "while True:\n    try:\n        x = int({}('n: '))\n        break\n    except Exception:\n        pass"
    cells = runner.notebook(asks.format("input"), f"import getpass\n{asks.format('getpass.getpass')}", cell_s=0.3)
    for cell in cells:
        assert cell["status"] == "timeout" and "the code called input() " in cell["raised"]["message"]


def test_overwritten_progress_is_dropped(runner: Worker) -> None:
    bar = "for i in range(60_000): print(f'\\rstep {i} of many', end='')\nprint('\\ndone\\r')"
    [cell] = runner.notebook(bar, cell_s=20.0)
    assert text_of(cell) == "step 59999 of many\ndone\r\n" and text_of(cell, "stderr") == ""


def test_end_of_long_output_is_kept(runner: Worker) -> None:
    [cell] = runner.notebook("for i in range(300_000): print('line', i)\nprint('the end')", cell_s=20.0)
    text = text_of(cell)
    assert text.startswith("line 0\n") and text.endswith("line 299999\nthe end\n") and len(text) <= 1 << 20
    assert text_of(cell, "stderr") == "[output cut]\n"


def test_progress_bars_are_text(runner: Worker) -> None:
    [cell] = runner.notebook(
        "from tqdm.notebook import tqdm, trange\nsum(1 for _ in tqdm(range(3)) for _ in trange(2))"
    )
    assert cell["status"] == "ok" and shown(cell) == ["6"] and "100%" in text_of(cell, "stderr")


def test_large_outputs_are_cut(runner: Worker) -> None:
    cells = runner.notebook("for i in range(100): print('x' * 100_000)\nprint('end')", "'y' * 10**7", "print('z')")
    assert len(text_of(cells[0])) <= 1 << 20 and text_of(cells[0], "stderr") == "[output cut]\n"
    assert shown(cells[1]) == [] and text_of(cells[2]) == "z\n"
    cells = runner.notebook(*["print('x' * 900_000)"] * 10)
    assert sum(len(text_of(c)) for c in cells) <= 5 << 20 and cells[-1]["status"] == "ok"


def test_odd_texts(runner: Worker) -> None:
    [cell] = runner.notebook(
        "import sys\nprint('\\ud800')\nsys.stdout.buffer.write(b'\\xff\\n')\nsys.stdout.write('')\nsys.stdout.flush()"
    )
    assert text_of(cell) == "\ud800\n\\xff\n"


def test_prints_of_later_calls(runner: Worker) -> None:
    runner.notebook("def f():\n    print('called')")
    reply = runner.ask("call", full=True, **runner.call_fields("f", [], {}))
    assert reply["printed"] == "called\n"


def test_files_beside_notebook(runner: Worker) -> None:
    runner.put("helper.py", "def h(): return 'h'")
    runner.put("data.txt", "d")
    [cell] = runner.notebook("from helper import h\nh() + open('data.txt').read()")
    assert shown(cell) == ["'hd'"]


def test_two_notebooks_are_two_programs(runner: Worker) -> None:
    runner.notebook("x = 1\ndef f():\n    return x", path="a.ipynb")
    runner.notebook("x = 2\ndef g():\n    return x", path="b.ipynb")
    assert (runner.call("f"), runner.call("g")) == (1, 2)
    assert runner.ask("get", space="module:b", name="x") == 2


MAGICS: list[tuple[str, str]] = [
    ("%time x = 1", "Wall time"),
    ("%%time\nx = 1", "Wall time"),
    ("%timeit -n1 -r1 pass", "per loop"),
    ("!echo shell", "shell\n"),
    ("name = 'var'\n!echo {name}", "var\n"),
    ("files = !echo one\nprint(list(files))", "['one']"),
    ("%%bash\necho from bash", "from bash"),
    ("%%writefile out.txt\ntext", "Writing out.txt"),
    ("%%capture captured\nprint('hidden')", ""),
    ("%env VIVA_TEST=1\nimport os\nprint(os.environ['VIVA_TEST'])", "1\n"),
    ("%cd -q /\nimport os\nprint(os.getcwd())", "/\n"),
    ("%pwd", ""),
    ("%load_ext autoreload\n%autoreload 2", ""),
    ("%matplotlib inline", ""),
    ("%config InlineBackend.figure_format = 'retina'", ""),
    ("%who", "Interactive namespace is empty."),
    ("import asyncio\nawait asyncio.sleep(0)\nprint('awaited')", "awaited"),
    ("async def f():\n    return 1\nprint(await f())", "1\n"),
    ("from IPython import get_ipython\nprint(get_ipython() is not None)", "True"),
    ("get_ipython().run_line_magic('time', 'print(1)')", "1\n"),
    ("from IPython.display import clear_output\nprint('a')\nclear_output()\nprint('b')", "b\n"),
    ("print(1)\nOut[1] if 1 in Out else None", "1\n"),
    ("import os\nos.getcwd?", ""),
    ("str?", ""),
    ("%tensorflow_version 2.x\nprint('goes on')", "goes on\n"),
    ("%%shell_of_colab\nls", ""),
    ("raise ValueError('x')\n%time", ""),
]


@pytest.mark.parametrize(("source", "printed"), MAGICS)
def test_magics_print_their_output(shell_worker: Worker, source: str, printed: str) -> None:
    [cell] = shell_worker.notebook(source)
    assert printed in text_of(cell)
    assert cell["status"] == ("raised" if source.startswith("raise") else "ok"), cell


@pytest.mark.parametrize(
    "line",
    ["!pip install -q it", "%pip install it", "! pip3 -q install it==1 'that>2'", "!python -m pip install -r it.txt"],
)
def test_nothing_is_installed(shell_worker: Worker, line: str) -> None:
    [cell] = shell_worker.notebook(line + "\nprint(_exit_code)")
    assert "Nothing is installed" in text_of(cell) and text_of(cell).endswith("1\n")


@pytest.mark.parametrize(
    ("line", "printed"),
    [
        ("!echo pip install it", "pip install it\n"),
        ("!pip --version", "pip"),
        ("!pip install it --no-such-option; echo x", "x\n"),
    ],
)
def test_other_commands_run(shell_worker: Worker, line: str, printed: str) -> None:
    [cell] = shell_worker.notebook(line)
    assert printed in text_of(cell) and "Nothing is installed" not in text_of(cell)


def test_shell_command_that_hangs(shell_worker: Worker) -> None:
    cells = shell_worker.notebook("!sleep 60", "x = 1", cell_s=0.5)
    assert [c["status"] for c in cells] == ["timeout", "ok"]


FIGURE = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.title('t');"


@pytest.mark.parametrize("fixture", ["worker", "shell_worker"])
def test_figures_are_outputs_of_their_cell(request: pytest.FixtureRequest, fixture: str) -> None:
    pytest.importorskip("matplotlib")
    worker: Worker = request.getfixturevalue(fixture)
    cells = worker.notebook(
        *(["%matplotlib inline"] if fixture == "shell_worker" else ["pass"]),
        FIGURE,
        "plt.plot([1])\nplt.show()\nprint('after')\nplt.plot([2]);",
        "x = 1",
        "plt.figure();",
        "fig, ax = plt.subplots()\nax.plot([1, 2])\nraise ValueError",
    )
    assert [kinds(c) for c in cells] == [
        [],
        ["display_data"],
        ["display_data", "stream", "display_data"],
        [],
        ["display_data"],
        ["error", "display_data"],
    ]
    assert shown(cells[4]) == ["<Figure size 640x480 with 0 Axes>"] and shown(cells[4], "image/png") == []
    [image] = shown(cells[1], "image/png")
    assert base64.b64decode(image).startswith(b"\x89PNG") and shown(cells[1])[0].startswith("<Figure size")


def test_lines_of_ipython_without_ipython(forker: Forker, tmp_path: Path) -> None:
    with forker.fork(tmp_path) as worker:
        worker.load("import sys\nsys.modules['IPython'] = None", "no_ipython.py")
        cells = worker.notebook(
            "%matplotlib inline\nx = 1\n!ls\nx",
            "%%bash\nls",
            "%%time\ny = 2",
            "for i in range(2):\n    %time i\n    z = i",
            "str?",
            "text = '''\n100%\n'''",
        )
    assert [c["status"] for c in cells] == ["ok"] * 6
    assert shown(cells[0]) == ["1"]
    note = "IPython is not installed here, so these lines were left out: "
    assert [text_of(c, "stderr").removeprefix(note) for c in cells] == [
        "%matplotlib inline; !ls\n",
        "the cell %%bash\n",
        "%%time\n",
        "%time i\n",
        "str?\n",
        "",
    ]
