"""Error messages in a terminal: one sentence, or in full when asked for."""

import os


def short(error: Exception) -> str:
    """Return the first line of an error and the last one, which names the cause; in full if VIVA_TRACEBACK is set."""
    text = str(error).strip()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) < 2 or in_full():
        return text
    return f"{lines[0]} {lines[-1]} (in full with VIVA_TRACEBACK=1)"


def in_full() -> bool:
    """Return whether the user wants tracebacks."""
    return bool(os.environ.get("VIVA_TRACEBACK"))
