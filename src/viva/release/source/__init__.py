"""An instructor's source with solutions in it, and the starter that results when they are removed."""

from viva.release.source.starter import SOURCES, starter_from

__all__ = ["SOURCES", "starter_from"]
