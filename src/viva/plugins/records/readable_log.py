"""Format a call log as lines for people."""

from collections.abc import Collection
from typing import Final

import viva.sandbox.guest.transport.wire as wire
from viva.formats import escaping
from viva.model.errors import UsageError
from viva.model.score import test_of
from viva.plugins.records.call_log import DIGEST, CallLog, Exchange

MOST_BYTES: Final = 256 << 10
"""The most bytes of a stored call log; a larger one is replaced by a line that says so."""
_SHOWN: Final = 1000
"""Characters of a request, and of an answer."""


def readable(data: bytes, *, leave_out: Collection[str] = ()) -> list[str]:
    """Return requests and answers, one line for each request.

    Args:
        data: as `CallLog.to_bytes` returns it; may be empty.
        leave_out: ids of tests whose requests are secret.
    """
    if not data:
        return []
    if len(data) > MOST_BYTES:
        return [f"left out: a call log of {len(data):,} bytes"]
    try:
        call_log = CallLog.from_bytes(data)
    except UsageError as error:
        return [str(error)]
    lines = [
        f"loading, box {number}: {_line(exchange)}"
        for number, load in enumerate(call_log.loads, 1)
        for exchange in load
    ]
    for case, exchanges in call_log.cases.items():
        if test_of(case) not in leave_out:
            lines += [f"{escaping.line(case)}: {_line(exchange)}" for exchange in exchanges]
    return lines


def _line(exchange: Exchange) -> str:
    asked = _value(exchange.question)
    if isinstance(asked, dict):
        op = asked.pop("op", "?")
        fields = ", ".join(f"{name}={value!r}" for name, value in asked.items())
        asked = f"{op}({fields})"
    answered = f"{exchange.ending}: {exchange.why}" if exchange.ending else repr(_value(exchange.reply))
    return " → ".join(escaping.terminal(str(part), characters=_SHOWN) for part in (asked, answered))


def _value(message: bytes) -> object:
    if message.startswith(DIGEST):
        return "a long question, of which the digest is kept"
    try:
        return wire.load(message)
    except wire.WireError:
        return "what cannot be read"
