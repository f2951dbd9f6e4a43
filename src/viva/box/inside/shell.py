"""IPython's shell without a kernel: its magics, `display`, shell lines and top-level await, with our outputs.

Only what runs cells is kept of InteractiveShell; its completer, history and traceback printer cost more than a whole
submission. Imported by the fork server where the assignment preloads IPython, so that a box only makes the object.
"""

from __future__ import annotations

import atexit
import builtins
import re
import subprocess
import sys
import tokenize
import types
from typing import Any, Dict, Optional, Tuple

from IPython.core.completer import IPCompleter  # noqa: F401  # imported by InteractiveShell anyway: once, before forks
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from . import figures, sources
from .outputs import Outputs, Streams

_INSTALLS = re.compile(r"""\s*(?:\S*python[\d.]*["']?\s+-m\s+)?pip[\d.]*\s+(?:-\S+\s+)*install\b[^;&|]*$""")
"""Half of all notebooks begin with it: starting pip, only to fail without a network, costs more than to grade them."""
NOT_INSTALLED = "Nothing is installed while a notebook is graded: the course's libraries are here already.\n"


class _Publisher(DisplayPublisher):
    outputs: Outputs

    def publish(
        self, data: Any, metadata: Any = None, *_args: Any, transient: Any = None, update: bool = False, **_kwargs: Any
    ) -> None:
        display_id = (transient or {}).get("display_id")
        if update:
            self.outputs.update(data, metadata or {}, display_id)
        else:
            self.outputs.display(data, metadata or {}, display_id)

    def clear_output(self, wait: bool = False) -> None:
        self.outputs.clear(wait)


class _Hook(DisplayHook):
    outputs: Outputs
    number = 0
    text = ""

    @property
    def prompt_count(self) -> int:
        """The number of the cell, under which `Out` remembers its result."""
        return self.number

    def quiet(self) -> bool:
        """A semicolon at the end of a cell keeps its result to itself."""
        try:
            return bool(self.semicolon_at_end_of_expression(self.text))  # type: ignore[no-untyped-call]
        except (SyntaxError, tokenize.TokenError):
            return self.text.rstrip().endswith(";")

    def write_output_prompt(self) -> None:
        """The prompt is the notebook's affair."""

    def write_format_data(self, format_dict: Dict[str, Any], md_dict: Optional[Dict[str, Any]] = None) -> None:
        self.outputs.result(format_dict, md_dict or {}, self.number)

    def finish_displayhook(self) -> None:
        """Nothing is written to a terminal."""


class _Interactive(InteractiveShell):
    display_pub_class = _Publisher
    displayhook_class = _Hook
    raised: Optional[BaseException] = None
    cell_file = ""

    def init_completer(self) -> None:
        """Nobody types."""
        self.Completer = None  # type: ignore[assignment]

    def init_readline(self) -> None:
        """Nobody types."""

    def init_history(self) -> None:
        """Nobody scrolls back."""
        super().init_history()  # type: ignore[no-untyped-call]
        if self.history_manager is not None:
            self.history_manager.enabled = False

    def showtraceback(self, *_args: Any, **_kwargs: Any) -> None:
        self.raised = sys.exc_info()[1]

    def showsyntaxerror(self, *_args: Any, **_kwargs: Any) -> None:
        self.raised = sys.exc_info()[1]

    def showindentationerror(self) -> None:
        self.raised = sys.exc_info()[1]

    def enable_gui(self, gui: Any = None) -> None:
        """There is no screen."""

    def enable_matplotlib(self, gui: Any = None) -> Tuple[str, str]:
        """`%matplotlib inline`, and any other: figures are put out as images."""
        return "inline", figures.BACKEND

    def system(self, cmd: str) -> None:
        """`!command`: what it writes goes to the cell, line by line; standard input is empty."""
        command: str = self.var_expand(cmd, depth=1)  # type: ignore[no-untyped-call]
        if _INSTALLS.match(command):
            sys.stdout.write(NOT_INSTALLED)
            self.user_ns["_exit_code"] = 1
            return
        process = subprocess.Popen(
            command,
            shell=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="backslashreplace",
        )
        with process:
            try:
                for line in process.stdout or ():
                    sys.stdout.write(line)
            except BaseException:
                process.kill()
                raise
        self.user_ns["_exit_code"] = process.returncode


def warm_up() -> None:
    """Once in a fork server: make a shell, run a cell and forget it, for what IPython imports and compiles late."""
    known, main = set(vars(builtins)), sys.modules["__main__"]
    Shell(types.ModuleType("__main__"), Outputs()).run(1, "%time None\n0")
    atexit.unregister(_Interactive.instance().atexit_operations)
    _Interactive.clear_instance()
    for name in set(vars(builtins)) - known:
        delattr(builtins, name)
    sys.modules["__main__"] = main


class Shell:
    """One notebook's shell."""

    def __init__(self, module: types.ModuleType, outputs: Outputs) -> None:
        config = Config()
        config.HistoryManager.enabled = False
        config.HistoryManager.hist_file = ":memory:"
        config.InteractiveShell.autoindent = False
        _Interactive.clear_instance()
        self._outputs = outputs
        self._shell = _Interactive.instance(config=config, user_module=module)
        _Publisher.outputs = _Hook.outputs = outputs
        formatter: Any = self._shell.display_formatter
        formatter.active_types = list(formatter.format_types)
        # Code objects carry the cell's own name, as tracebacks show it.
        self._shell.compile.get_code_name = lambda *_args: self._shell.cell_file  # type: ignore[method-assign]

    def run(self, number: int, text: str) -> None:
        """Run a cell.

        Raises:
            BaseException: what the cell raises; a SyntaxError costs the whole cell.
        """
        shell = self._shell
        shell.cell_file = sources.remember_cell(number, text)
        shell.raised, shell.execution_count = None, number
        _Hook.number, _Hook.text = number, text
        with Streams(self._outputs):
            result: Any = shell.run_cell(text, store_history=False)  # type: ignore[no-untyped-call]
        error = result.error_before_exec or result.error_in_exec or shell.raised
        if error is not None:
            raise error
