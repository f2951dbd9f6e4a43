"""An instructor's source with solutions in it, and the starter that results when they are removed."""

from viva.plugins.authoring.source.starter import starter_from

__all__ = ["starter_from"]
