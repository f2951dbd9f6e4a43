"""Call a function a second time with the same objects: a right one answers again, and leaves its arguments alone.

What this finds is a claim of the student's process about itself, like every answer.
"""

from __future__ import annotations

import hashlib
import math
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple

from ..transport import wire
from ..transport.wire_values import TooLarge
from ..values.raised import describe
from . import alarm, seeding

if TYPE_CHECKING:
    from ..transport.encoding import Encode
    from ..values.references import References

_MOST_S = 0.5
_MOST_SHARE = 0.25
"""Seconds that the first call may compute, and their share of its limit: a slower function is called once."""
_MOST_BYTES = 16 << 20
_dump, _load, _blake2b, _process_time = wire.dump, wire.load, hashlib.blake2b, time.process_time


def called_twice(
    function: Callable[..., object],
    args: List[Any],
    kwargs: Dict[str, Any],
    *,
    encode: Encode,
    refs: References,
) -> Dict[str, object]:
    """Call a function twice with the same objects, from the same state of the random generators.

    The second call is left out if the first one changed an argument, was slow, or gave objects that stay in the box.

    Returns:
        "value": the answer of the last call; "changed": the names of arguments that the first call changed, of which
        "1" is the first positional one; "differs": whether the second call answered differently; "raised": what it
        raised, None for nothing.
    """
    named = {**{str(number): value for number, value in enumerate(args, 1)}, **kwargs}
    by_identity = _with_functions(encode)
    before = {name: _digest(value, by_identity) for name, value in named.items()}
    restore = seeding.saved()
    left_s = alarm.left_s()
    limit_s = math.inf if left_s is None else left_s
    kept, began = refs.last, _process_time()
    value = function(*args, **kwargs)
    took_s = _process_time() - began
    first, value = _settled(value, encode)
    changed = [
        name for name, digest in before.items() if digest is not None and _digest(named[name], by_identity) != digest
    ]
    reply: Dict[str, object] = {"value": value, "changed": changed, "differs": False, "raised": None}
    if changed or first is None or refs.last != kept or took_s > min(_MOST_S, _MOST_SHARE * limit_s):
        return reply
    restore()
    try:
        second, again = _settled(function(*args, **kwargs), encode)
    except alarm.SoftTimeout:
        raise
    except BaseException as error:
        return {**reply, "raised": describe(error)}
    return {**reply, "value": again, "differs": second != first}


def _settled(value: object, encode: Encode) -> Tuple[Optional[bytes], object]:
    """Return a digest of an answer, and the answer as plain data that no later call can change.

    If it is too large to be kept, the digest is None, and the answer is returned as it is.
    """
    data = _message(value, encode)
    return (None, value) if data is None else (_blake2b(data).digest(), _load(data))


def _with_functions(encode: Encode) -> Encode:
    """Return what encodes a function as its identity: as an object that stays in the box, it gets a new number."""
    return lambda value: f"function {id(value)}" if callable(value) else encode(value)


def _digest(value: object, encode: Encode) -> Optional[bytes]:
    data = _message(value, encode)
    return None if data is None else _blake2b(data).digest()


def _message(value: object, encode: Encode) -> Optional[bytes]:
    """Return a value as it crosses the wire; None if that is too large to be compared."""
    try:
        parts = _dump(value, encode)
    except TooLarge:
        return None
    small = sum(memoryview(part).nbytes for part in parts) <= _MOST_BYTES
    return b"".join(bytes(part) for part in parts) if small else None
