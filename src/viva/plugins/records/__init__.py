"""All scores ever given, with reasons: appended, never overwritten. SQLite by default, PostgreSQL by its URL."""

from typing import Final

CALL_LOG: Final = "call_log"
"""The name of the interceptor that records exchanges with boxes, or replays them if it is given a call log."""
