"""What a call that went wrong answers: the limits that end it, and how what it raised is described."""

import time

import pytest

from tests.support.bare_worker import Worker
from viva.sandbox.guest.transport import wire

LIMITS = """
import time
def spin():
    while True: pass
def nap(): time.sleep(60)
def swallow():
    try:
        spin()
    except Exception:
        return "swallowed"
def swallow_once():
    try:
        spin()
    except BaseException:
        spin()
def endless():
    while True: yield 1
def slow():
    for i in range(10**6):
        time.sleep(0.05)
        yield i
class Slow:
    def __repr__(self): time.sleep(60)
class Rude(Exception):
    def __str__(self): time.sleep(60)
def rude(): raise Rude()
def dive(n=0): return dive(n + 1)
def gulp(): return bytearray(1 << 60)
def fine(): return "fine"
"""


@pytest.mark.parametrize("name", ["spin", "nap", "swallow", "swallow_once", "slow", "Slow"])
def test_soft_limit_ends_call(worker: Worker, name: str) -> None:
    worker.define(LIMITS)
    began = time.monotonic()
    raised = worker.call_raises(name, soft_s=0.3)
    assert (raised["type"], raised["limit"]) == ("TimeoutError", "time") and 0.2 < time.monotonic() - began < 25
    assert worker.ask("call", soft_s=5.0, **worker.call_fields("fine", [], {})) == "fine"
    time.sleep(0.4)
    assert worker.call("fine") == "fine"


def test_soft_limit_after_alarm_was_taken(worker: Worker) -> None:
    worker.define("""
        import signal
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        def spin():
            while True: pass
    """)
    assert worker.call_raises("spin", soft_s=0.3)["limit"] == "time"


def test_own_alarm_does_no_harm(worker: Worker) -> None:
    worker.define("""
        import signal, time
        def ring():
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            time.sleep(0.2)
            return "rung"
    """)
    assert worker.ask("call", soft_s=5.0, **worker.call_fields("ring", [], {})) == "rung"


@pytest.mark.parametrize(
    ("name", "kind", "limit"), [("dive", "RecursionError", "recursion"), ("gulp", "MemoryError", "memory")]
)
def test_other_limits(worker: Worker, name: str, kind: str, limit: str) -> None:
    worker.define(LIMITS)
    raised = worker.call_raises(name)
    assert (raised["type"], raised["limit"]) == (kind, limit) and len(raised["frames"]) <= 12


def test_endless_message(worker: Worker) -> None:
    worker.define(LIMITS)
    raised = worker.call_raises("rude")
    assert (raised["type"], raised["message"]) == ("Rude", "(its message cannot be shown)")


def test_endless_iterator_is_object(worker: Worker) -> None:
    worker.define(LIMITS)
    ref = worker.call("endless")
    assert type(ref) is wire.Ref and worker.ask("next", ref=ref.id) == 1


RAISES: list[tuple[str, str, str]] = [
    ("sys.exit(3)", "SystemExit", "the code called exit(3)"),
    ("sys.exit()", "SystemExit", "the code called exit()"),
    ("raise KeyboardInterrupt", "KeyboardInterrupt", ""),
    ("raise GeneratorExit", "GeneratorExit", ""),
    ("raise Odd()", "Odd", "(its message cannot be shown)"),
    ("raise Long()", "Long", "x" * 1000),
    ("raise type('N' * 500, (Exception,), {})", "N" * 100, ""),
    ("raise StopIteration(1)", "StopIteration", "1"),
    ("raise Lying('truth')", "Lying", "truth"),
    ("raise Pretender()", "Pretender", ""),
    ("raise Named()", "Named", ""),
    ("import no_such_module.part", "ModuleNotFoundError", "No module named 'no_such_module'"),
    ("raise ValueError('\\ud800')", "ValueError", "\ud800"),
]


@pytest.mark.parametrize(("statement", "kind", "message"), RAISES)
def test_raised_is_described(worker: Worker, statement: str, kind: str, message: str) -> None:
    worker.define(f"""
import sys
class Odd(Exception):
    def __str__(self): raise ValueError
class Long(Exception):
    def __str__(self): return "x" * 10**7
class Pretender(Exception):
    @property
    def __class__(self): return ModuleNotFoundError
class Meta(type):
    @property
    def __name__(cls): return 3
class Named(Exception, metaclass=Meta): pass
class Lying(ValueError):
    @property
    def __class__(self): return MemoryError
    @property
    def __traceback__(self): raise OSError
def f():
    {statement}
""")
    raised = worker.call_raises("f")
    assert (raised["type"], raised["message"]) == (kind, message)
    assert raised["missing_module"] == ("no_such_module" if "no_such" in statement else None)
    assert worker.ask("names") == ["Long", "Lying", "Meta", "Named", "Odd", "Pretender", "f"]


def test_frames_of_own_code(worker: Worker) -> None:
    worker.load("def g(x):\n    return h(x)\n\ndef h(x):\n    return x['a']", "helper.py")
    worker.define(
        "import json, helper\ndef f(x):\n    return list(map(helper.g, [x]))\ndef j(): return json.loads('{')"
    )
    frames = worker.call_raises("f", {})["frames"]
    assert frames == [
        ["solution.py", 3, "f", "return list(map(helper.g, [x]))"],
        ["helper.py", 2, "g", "return h(x)"],
        ["helper.py", 5, "h", "return x['a']"],
    ]
    assert [frame[:3] for frame in worker.call_raises("j")["frames"]] == [["solution.py", 4, "j"]]
