"""All scores ever given, with reasons: appended, never overwritten. SQLite by default, PostgreSQL by its URL."""

from viva.records.store import Records, StoredScore

__all__ = ["Records", "StoredScore"]
