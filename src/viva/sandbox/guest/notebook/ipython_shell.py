"""IPython's shell without a kernel: its magics, `display`, shell lines and top-level await, with viva's outputs.

It keeps only the parts of InteractiveShell that run cells; the completer and the history file cost more time than a
whole submission. The fork server imports it if the assignment preloads IPython, so that a box only makes the object.
"""

from __future__ import annotations

import asyncio
import atexit
import builtins
import functools
import os
import sys
import types
from typing import Any, Dict, List, Optional

from IPython.core import page
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from ..loading import sources
from ..process.alarm import SoftTimeout
from ..values.raised import Raised
from . import inline_figures, shell_lines
from .cell_outputs import Outputs, Streams

_ENVIRONMENT = {
    "TERM": "xterm-color",
    "CLICOLOR": "1",
    "FORCE_COLOR": "1",
    "CLICOLOR_FORCE": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
}
"""The environment that a kernel sets for programs started by cells."""


class _Publisher(DisplayPublisher):
    outputs: Outputs

    def publish(
        self,
        data: Dict[str, object],
        metadata: Optional[Dict[str, object]] = None,
        *_args: object,
        transient: Optional[Dict[str, object]] = None,
        update: bool = False,
        **_kwargs: object,
    ) -> None:
        metadata = {} if metadata is None else metadata
        self._validate_data(data, metadata)  # type: ignore[no-untyped-call]
        display_id = (transient or {}).get("display_id")
        if update:
            self.outputs.update(data, metadata, display_id)
        else:
            self.outputs.display(data, metadata, display_id)

    def clear_output(self, wait: bool = False) -> None:  # noqa: FBT001, FBT002  # IPython's signature
        self.outputs.clear(wait=wait)


class _Hook(DisplayHook):
    outputs: Outputs

    def write_output_prompt(self) -> None:
        """Write no prompt: the notebook shows its own."""

    def write_format_data(self, format_dict: Dict[str, object], md_dict: Optional[Dict[str, object]] = None) -> None:
        self.outputs.result(format_dict, md_dict or {}, self.prompt_count)

    def finish_displayhook(self) -> None:
        """Do nothing: there is no terminal."""


class _Interactive(InteractiveShell):
    display_pub_class = _Publisher
    displayhook_class = _Hook
    outputs: Outputs
    raised: Optional[BaseException] = None
    """The last exception shown in this cell, whether or not it ended the cell."""
    cell_file = ""

    def init_completer(self) -> None:
        """Do nothing: no one types."""
        self.Completer = None  # type: ignore[assignment]

    def init_environment(self) -> None:
        """Set the variables of a stock kernel."""
        os.environ.update(_ENVIRONMENT)

    def init_hooks(self) -> None:
        """Discard paged text (`f?`): a pager is for a person, and its text is not part of the notebook."""
        super().init_hooks()  # type: ignore[no-untyped-call]
        self.set_hook("show_in_pager", page.as_hook(_discard), 99)  # type: ignore[no-untyped-call]

    def showtraceback(self, exc_tuple: Any = None, *args: Any, **kwargs: Any) -> None:
        error = exc_tuple[1] if exc_tuple else sys.exc_info()[1]
        self.raised = error if error is not None else self.raised
        if not isinstance(error, SoftTimeout):  # viva reports its own limit
            super().showtraceback(exc_tuple, *args, **kwargs)

    def showsyntaxerror(self, *args: object, **kwargs: object) -> None:
        self.raised = sys.exc_info()[1]
        super().showsyntaxerror(*args, **kwargs)  # type: ignore[no-untyped-call]

    def _showtraceback(self, etype: type, evalue: object, stb: List[str]) -> None:
        lines = [str.__str__(str(line)) for line in stb]
        self.outputs.traceback(sources.name_of(etype), str.__str__(str(evalue)), lines)

    def _find_with_lazy_load(self, type_: str, magic_name: str) -> Any:
        """Find a magic; of one that does not exist, such as Colab's own, a cell says so and goes on."""
        found = super()._find_with_lazy_load(type_, magic_name)
        others: Any = (self.find_line_magic, self.find_cell_magic)
        if found is not None or any(find(magic_name) for find in others):
            return found
        return functools.partial(self._say_unknown, f"Line magic function `%{magic_name}`"
                                 if type_ == "line" else f"Cell magic `%%{magic_name}`")  # fmt: skip

    def _say_unknown(self, magic: str, *_arguments: str) -> None:
        self.show_usage_error(UsageError(f"{magic} not found."))  # type: ignore[no-untyped-call]

    def ask_exit(self) -> None:
        """End the cell in which `exit()` or `quit()` is called, as outside of IPython."""
        raise SystemExit

    def enable_gui(self, gui: object = None) -> None:
        """Do nothing: there is no screen."""

    def system(self, cmd: str) -> None:
        """Run `!command`."""
        shell_lines.run(self, cmd)

    system_piped = system
    system_raw = system


def _discard(*_args: object, **_kwargs: object) -> None:
    """Discard what a pager would show."""


def warm_up() -> None:
    """Make a shell, run cells and discard it, once in a fork server: IPython imports and compiles much code late."""
    known, main, environment = set(vars(builtins)), sys.modules["__main__"], dict(os.environ)
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
    sys.modules["__main__"] = main


class Shell:
    """The shell of one notebook."""

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
        # Code objects have the cell's own name, which tracebacks show.
        self._shell.compile.get_code_name = lambda *_args: self._shell.cell_file  # type: ignore[method-assign]
        if with_figures:
            inline_figures.use(self._shell)
        self._loop: Any = None
        self._left_over: List[Any] = []
        """Loops with a cell that did not end: they are kept, because closing them would run the student's code."""

    def run(self, number: int, text: str) -> None:
        """Run a cell.

        Raises:
            BaseException: The cell raised it; after a SyntaxError nothing of the cell has run.
        """
        shell = self._shell
        shell.cell_file = sources.remember_cell(number, text)
        shell.raised, shell.execution_count = None, number
        with Streams(self._outputs):
            result = self._in_a_loop(text)
        error = result.error_before_exec or result.error_in_exec or shell.raised
        if error is not None:
            raise error

    def show_error(self, error: BaseException, raised: Raised) -> None:
        """Add what `run` has raised to the outputs, unless IPython has shown it."""
        if self._shell.raised is not error:
            self._outputs.error(raised)

    def close(self) -> None:
        """Close the event loop."""
        if self._loop is not None:
            self._loop.close()
            asyncio.set_event_loop(None)

    def _in_a_loop(self, text: str) -> Any:
        """Run a cell as a kernel does: in the event loop of all cells, so that a later cell can await a task."""
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
        options = {"transformed_cell": transformed, "preprocessing_exc_tuple": failed}
        if not shell.should_run_async(text, **options):
            return shell.run_cell(text, store_history=True)
        result = None
        try:
            result = await shell.run_cell_async(text, store_history=True, **options)
        finally:
            shell.events.trigger("post_execute")
            shell.events.trigger("post_run_cell", result)
        return result
