"""IPython's shell without a kernel: its magics, `display`, shell lines and top-level await, with our outputs.

Only what runs cells is kept of InteractiveShell; its completer and the file of its history cost more than a whole
submission. Imported by the fork server where the assignment preloads IPython, so that a box only makes the object.
"""

from __future__ import annotations

import asyncio
import atexit
import builtins
import getpass
import os
import sys
import types
from typing import Any, Dict, List, Optional, Tuple

from IPython.core import page, ultratb
from IPython.core.completer import IPCompleter  # noqa: F401  # imported by InteractiveShell anyway: once, before forks
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from ..loading import sources
from ..process.alarm import SoftTimeout
from ..values.raised import Raised
from . import figures, inline_figures, shell_lines
from .cell_outputs import Outputs, Streams

_ENVIRONMENT = {
    "TERM": "xterm-color",
    "CLICOLOR": "1",
    "FORCE_COLOR": "1",
    "CLICOLOR_FORCE": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
}
"""As a kernel sets it for the programs that cells start."""


class _Publisher(DisplayPublisher):
    outputs: Outputs

    def publish(
        self, data: Any, metadata: Any = None, *_args: Any, transient: Any = None, update: bool = False, **_kwargs: Any
    ) -> None:
        metadata = {} if metadata is None else metadata
        self._validate_data(data, metadata)  # type: ignore[no-untyped-call]
        display_id = (transient or {}).get("display_id")
        if update:
            self.outputs.update(data, metadata, display_id)
        else:
            self.outputs.display(data, metadata, display_id)

    def clear_output(self, wait: bool = False) -> None:
        self.outputs.clear(wait)


class _Hook(DisplayHook):
    outputs: Outputs

    def write_output_prompt(self) -> None:
        """The prompt is the notebook's affair."""

    def write_format_data(self, format_dict: Dict[str, Any], md_dict: Optional[Dict[str, Any]] = None) -> None:
        self.outputs.result(format_dict, md_dict or {}, self.prompt_count)

    def finish_displayhook(self) -> None:
        """Nothing is written to a terminal."""


class _Interactive(InteractiveShell):
    display_pub_class = _Publisher
    displayhook_class = _Hook
    outputs: Outputs
    raised: Optional[BaseException] = None
    """What was shown last in this cell, whether it ended the cell or was told in passing."""
    cell_file = ""

    def init_completer(self) -> None:
        """Nobody types."""
        self.Completer = None  # type: ignore[assignment]

    def init_readline(self) -> None:
        """Nobody types."""

    def init_environment(self) -> None:
        """The variables of a stock kernel."""
        os.environ.update(_ENVIRONMENT)

    def init_hooks(self) -> None:
        """What is paged (`f?`) goes to a person who reads along, and not into the notebook."""
        super().init_hooks()  # type: ignore[no-untyped-call]
        self.set_hook("show_in_pager", page.as_hook(_unread), 99)  # type: ignore[no-untyped-call]

    def showtraceback(self, exc_tuple: Any = None, *args: Any, **kwargs: Any) -> None:
        error = exc_tuple[1] if exc_tuple else sys.exc_info()[1]
        self.raised = error if error is not None else self.raised
        if not isinstance(error, SoftTimeout):  # the limit is ours to tell
            super().showtraceback(exc_tuple, *args, **kwargs)

    def showsyntaxerror(self, *args: Any, **kwargs: Any) -> None:
        self.raised = sys.exc_info()[1]
        super().showsyntaxerror(*args, **kwargs)  # type: ignore[no-untyped-call]

    def _showtraceback(self, etype: Any, evalue: Any, stb: List[str]) -> None:
        words = [str.__str__(str(line)) for line in stb]
        self.outputs.traceback(sources.name_of(etype), str.__str__(str(evalue)), words)

    def _format_exception_for_storage(self, *_args: Any, **_kwargs: Any) -> Dict[str, Any]:
        """IPython would format each exception once more, for a history that nobody reads."""
        return {"ename": "", "evalue": "", "traceback": []}

    def enable_gui(self, gui: Any = None) -> None:
        """There is no screen."""

    def system(self, cmd: str) -> None:
        """`!command`."""
        shell_lines.run(self, cmd)

    system_piped = system
    system_raw = system


_lines_of_frame: Any = getattr(ultratb, "get_line_number_of_frame", None)


def _lines_of_file_or_none(frame: Any) -> Any:
    """How long the file of a frame is: to IPython the cells of a kernel are files that are not there, and so are ours.

    Raises:
        OSError: IPython then shows the lines around the place without analysing them, which is a good deal faster.
    """
    if sources.is_cell(frame.f_code.co_filename):
        raise FileNotFoundError(frame.f_code.co_filename)
    return _lines_of_frame(frame)


if _lines_of_frame is not None:
    vars(ultratb)["get_line_number_of_frame"] = _lines_of_file_or_none


def _unread(*_args: Any, **_kwargs: Any) -> None:
    """A pager without a reader."""


def warm_up() -> None:
    """Once in a fork server: make a shell, run cells and forget it, for what IPython imports and compiles late."""
    known, main, environment = set(vars(builtins)), sys.modules["__main__"], dict(os.environ)
    asks = getpass.getpass
    shell = Shell(types.ModuleType("__main__"), Outputs(), with_figures=False)
    inline_figures.warm_up()
    for number, text in enumerate(("%time None\n0", "def f():\n    return 1 / 0\nf()", "await 1"), 1):
        try:
            shell.run(number, text)
        except (ZeroDivisionError, TypeError):
            continue
    shell.close()
    atexit.unregister(_Interactive.instance().atexit_operations)
    _Interactive.clear_instance()
    for name in set(vars(builtins)) - known:
        delattr(builtins, name)
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        vars(sys).pop(name, None)
    sources.forget_cells()
    os.environ.clear()
    os.environ.update(environment)
    getpass.getpass = asks
    sys.modules["__main__"] = main


class Shell:
    """One notebook's shell."""

    def __init__(self, module: types.ModuleType, outputs: Outputs, *, with_figures: bool = True) -> None:
        config = Config()
        config.HistoryManager.enabled = False
        config.HistoryManager.hist_file = ":memory:"
        config.InteractiveShell.autoindent = False
        _Interactive.clear_instance()
        self._outputs = outputs
        _Interactive.outputs = _Publisher.outputs = _Hook.outputs = outputs
        self._shell = _Interactive.instance(config=config, user_module=module)
        formatter: Any = self._shell.display_formatter
        formatter.active_types = list(formatter.format_types)
        # Code objects carry the cell's own name, as tracebacks show it.
        self._shell.compile.get_code_name = lambda *_args: self._shell.cell_file  # type: ignore[method-assign]
        getpass.getpass = _ask
        self._inline = not with_figures or inline_figures.use(self._shell)
        if not self._inline:
            figures.use_for_notebooks(outputs)
        self._loop: Any = None
        self._left_over: List[Any] = []
        """Loops with a cell in them that did not end: kept, for taking them down would run the student's code."""

    def run(self, number: int, text: str) -> None:
        """Run a cell.

        Raises:
            BaseException: what the cell raises; a SyntaxError costs the whole cell.
        """
        shell = self._shell
        shell.cell_file = sources.remember_cell(number, text)
        shell.raised, shell.execution_count = None, number
        with Streams(self._outputs):
            result = self._in_a_loop(text)
            if not self._inline:
                figures.show()
        error = result.error_before_exec or result.error_in_exec or shell.raised
        if error is not None:
            raise error

    def tell(self, error: BaseException, raised: Raised) -> None:
        """Put out what `run` has raised, unless IPython has shown it."""
        if self._shell.raised is not error:
            self._outputs.error(raised)

    def explain(self, error: BaseException, raised: Raised) -> None:
        """Put out what somebody else has raised who runs the cells, as IPython shows it."""
        if self._shell.raised is error:
            return
        self._know_all_cells()
        trace = error.__traceback__
        while trace is not None and not sources.is_cell(trace.tb_frame.f_code.co_filename):
            trace = trace.tb_next
        with Streams(self._outputs):
            try:
                raise error.with_traceback(trace)
            except BaseException:
                # What IPython shows with Python's own means begins here, as in a kernel where the cells are run.
                shown = type(error), error, trace
                self._shell.showtraceback(shown, tb_offset=0, running_compiled_code=trace is not None)
        self._shell.raised = None

    def forms(self, value: Any) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        """A value in the forms that a notebook shows, and their metadata."""
        self._know_all_cells()
        formatter: Any = self._shell.display_formatter
        data, metadata = formatter.format(value)
        return data, metadata

    def _know_all_cells(self) -> None:
        self._shell.compile._filename_map.update(sources.numbers_of_cells())

    def close(self) -> None:
        """Free what a shell holds beside memory."""
        if self._loop is not None:
            self._loop.close()
            asyncio.set_event_loop(None)

    def _in_a_loop(self, text: str) -> Any:
        """Run a cell as a kernel does: in the event loop that all cells share, so that a later one can await a task."""
        if self._loop is None or self._loop.is_closed():
            self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        task = self._loop.create_task(self._cell(text))
        try:
            return self._loop.run_until_complete(task)
        except BaseException:
            if not task.done():
                self._left_over.append((self._loop, task))
                self._loop = None
            raise

    async def _cell(self, text: str) -> Any:
        shell: Any = self._shell
        try:
            transformed, failed = shell.transform_cell(text), None
        except Exception:
            transformed, failed = text, sys.exc_info()
        how = {"transformed_cell": transformed, "preprocessing_exc_tuple": failed}
        if not shell.should_run_async(text, **how):
            return shell.run_cell(text, store_history=True)
        result = None
        try:
            result = await shell.run_cell_async(text, store_history=True, **how)
        finally:
            shell.events.trigger("post_execute")
            shell.events.trigger("post_run_cell", result)
        return result


def _ask(*_args: Any, **_kwargs: Any) -> str:
    """`getpass.getpass()`: refused in the words of `input()`."""
    return input()
