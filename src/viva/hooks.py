"""Hooks: what a plugin can add to viva, each with an example.

A plugin is a module with functions that have the names of hooks and are marked with `hookimpl`. A distribution names
its module in the entry points of its `pyproject.toml`:

    [project.entry-points.viva]
    my_plugin = "my_package.my_hooks"

Keep such a module small, and import inside its functions: viva imports all of these modules to find out what there is.
"""

import functools
import importlib
from typing import TYPE_CHECKING, Any, Final

import pluggy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from viva.examiner.catalog import TestFunction
    from viva.model.box_source import BoxInterceptor

NAME: Final = "viva"
"""The name of the project for pluggy, and the group of the entry points."""
OWN: Final = ("viva.replay.call_log.hooks",)
"""Modules of viva's own plugins. They are names, so that the core imports none of them."""

hookimpl: Final = pluggy.HookimplMarker(NAME)
"""Marks a function of a plugin's module as the implementation of the hook of its name."""
_specification: Final = pluggy.HookspecMarker(NAME)


@_specification(firstresult=True)
def viva_box_interceptor(name: str, data: bytes, tests: "Sequence[TestFunction]") -> "BoxInterceptor | None":
    """Return the interceptor of that name, which stands between the examiner and the boxes of one submission.

    The examiner calls this for each submission whose `GradeOptions.interceptor` is not empty:

        @hookimpl
        def viva_box_interceptor(name, data, tests):
            return TimedBoxes() if name == "times" else None

    Args:
        name: as in the options.
        data: `GradeRequest.interceptor_input` of the submission.
        tests: all tests of the assignment, in their order.
    """


@functools.cache
def hooks() -> Any:
    """Return the hooks with the implementations of all plugins: `hooks().viva_pool(…)` calls one by its name."""
    manager = pluggy.PluginManager(NAME)
    manager.add_hookspecs(importlib.import_module(__name__))
    for module in OWN:
        manager.register(importlib.import_module(module))
    manager.load_setuptools_entrypoints(NAME)
    return manager.hook
