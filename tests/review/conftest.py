"""What tests of `viva review` share with those of the records."""

from postgres import postgres_url

__all__ = ["postgres_url"]
