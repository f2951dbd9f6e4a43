"""Wait for torch: it takes a second to import, so what changes it must neither import it nor miss its import."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
import types
from typing import Any, Callable, Optional, Sequence

_find_spec = importlib.util.find_spec


def when_loaded(action: Callable[[Any], None]) -> None:
    """Call the action with torch once it is ready for use; an action that waits already is not added again."""
    if any(isinstance(finder, _TorchHook) and finder.action is action for finder in sys.meta_path):
        return
    hook = _TorchHook(action)
    sys.meta_path.insert(0, hook)
    if "torch" in sys.modules:
        hook.torch_loaded(sys.modules["torch"])


class _TorchHook:
    """Waits in the import system until torch is loaded."""

    def __init__(self, action: Callable[[Any], None]) -> None:
        self.action = action
        self._searching, self._loaded = False, False

    def find_spec(
        self, name: str, path: Optional[Sequence[str]] = None, target: object = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        """Return the spec that the other finders find for torch, with a loader that calls `torch_loaded` at its end."""
        if name != "torch" or self._searching or self._loaded:
            return None
        self._searching = True
        try:
            spec = _find_spec(name)
        finally:
            self._searching = False
        if spec is None or spec.loader is None:
            return spec
        loader: Any = spec.loader
        execute = loader.exec_module

        def exec_module(module: types.ModuleType) -> None:
            execute(module)
            self.torch_loaded(module)

        loader.exec_module = exec_module
        return spec

    def torch_loaded(self, torch: types.ModuleType) -> None:
        """Change torch once, when it is ready for use; a student's own file called torch is left alone."""
        if hasattr(torch, "overrides") and not self._loaded:
            self._loaded = True
            self.action(torch)
