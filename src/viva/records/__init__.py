"""All scores ever given, with reasons: appended, never overwritten. SQLite by default, PostgreSQL by its URL."""

from viva.records.store import Records
from viva.records.stored_scores import StoredScore

__all__ = ["Records", "StoredScore"]
