"""A question to the box and its outcome, as `viva explain` shows them and the call log records them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from viva.compare.show import show
from viva.model import untrusted
from viva.model.errors import StudentRaised

SHOWN_CAP: Final = 2000
"""Characters of an argument or a value in the record of a test."""
_SHOWN_FIELDS: Final = ("args", "kwargs", "key", "names", "argv", "stdin", "path")


@dataclass(slots=True)
class Question:
    """A question to the box and its outcome."""

    op: str
    subject: str
    fields: dict[str, Any]
    outcome: str = ""
    value: Any = None

    def shown(self) -> list[str]:
        """Return operation, subject, question and answer as texts, kept short whatever the student's process sent."""
        return [self.op, self.subject, self._asked()[: 2 * SHOWN_CAP], self._answered()]

    def _asked(self) -> str:
        """Return a call as Python, and anything else by its operation."""
        if self.op == "call":
            args = self.fields.get("args") or ()
            if self.fields.get("each"):
                return f"{self.subject}.each({show(args, SHOWN_CAP)})"
            named = (self.fields.get("kwargs") or {}).items()
            given = [show(value, SHOWN_CAP) for value in args]
            return f"{self.subject}({', '.join([*given, *(f'{n}={show(v, SHOWN_CAP)}' for n, v in named)])})"
        fields = {
            n: v for n, v in self.fields.items() if n in _SHOWN_FIELDS and not (type(v) in (list, dict) and not v)
        }
        given = [f"{name}={show(value, SHOWN_CAP)}" for name, value in fields.items()]
        return " ".join([self.op, self.subject, ", ".join(given)]).strip()

    def _answered(self) -> str:
        """Return what came back; empty for a name that was found, which the next question shows."""
        if self.outcome:
            return self.outcome
        if not isinstance(self.value, Mapping):
            return show(self.value, SHOWN_CAP)
        if self.op == "find":
            return "" if self.value.get("found") is True else "not defined"
        if self.op == "call" and "raised" in self.value:
            return self._whole_answer(self.value)
        return show(self.value, SHOWN_CAP)

    @staticmethod
    def _whole_answer(reply: Mapping[str, Any]) -> str:
        """Return the parts of a reply that says more about a call than its value."""
        raised = untrusted.table(reply.get("raised"))
        if raised:
            error = StudentRaised.from_wire(raised)
            return f"raises {error.type_name}: {error.message}"[:SHOWN_CAP]
        more = []
        if changed := untrusted.rows(reply.get("changed")):
            more.append(f"changes its arguments: {show(changed, SHOWN_CAP)}")
        if reply.get("differs") is True:
            more.append("answers differently the second time")
        return "; ".join([show(reply.get("value"), SHOWN_CAP), *more])
