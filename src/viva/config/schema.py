"""grader.yaml, assignment.yaml and rubric.yaml: every key, what it may hold, and its default."""

from typing import Final

from viva.config.checks import (
    Key,
    Table,
    deduction,
    each,
    item_id,
    kernel,
    mapping,
    module,
    moment,
    name,
    one_of,
    optional,
    points,
    preloaded,
    rows,
    seconds,
    secret,
    signed_points,
    span,
    text,
    tier,
    truth,
    whole,
    workers,
)
from viva.model import Limits

_LIMITS: Final = Limits()
_MIB: Final = 1 << 20

COURSE: Final[Table] = {
    "course": Key(text),
    "secret": Key(secret, "env:VIVA_SECRET"),
    "min_tier": Key(optional(tier), None),
    "records": Key(optional(text), None),
    "workers": Key(workers, 0),
    "assignments": Key(each(name)),
}

ASSIGNMENT: Final[Table] = {
    "title": Key(text),
    "version": Key(whole(1, 1_000_000), 1),
    "submission": {
        "notebook": Key(optional(text), "*.ipynb"),
        "module": Key(optional(text), "solution.py"),
    },
    "load": Key(one_of("run", "definitions"), "run"),
    "kernel": Key(kernel, None),
    "device": Key(one_of("as_written", "cpu"), "as_written"),
    "points": Key(optional(points), None),
    "preload": Key(each(preloaded), ()),
    "limits": {
        "load_s": Key(seconds, _LIMITS.load_s),
        "call_s": Key(seconds, _LIMITS.call_s),
        "test_s": Key(seconds, _LIMITS.test_s),
        "submission_s": Key(seconds, _LIMITS.submission_s),
        "memory_mib": Key(whole(64, _MIB), _LIMITS.memory_mib),
        "disk_mib": Key(whole(1, _MIB), _LIMITS.disk_mib),
        "output_kib": Key(whole(1, _MIB), _LIMITS.output_kib),
        "processes": Key(whole(1, 4096), _LIMITS.processes),
        "fork": Key(truth, _LIMITS.fork),
    },
    "data": Key(each(text), ()),
    "forbid": Key(each(module), ()),
    "due": Key(optional(moment), None),
    "policy": Key(optional(mapping), None),  # its keys: policy_file.py, read only where it is written
    "min_tier": Key(optional(tier), None),
    "python": Key(optional(text), None),
    "suite": Key(optional(one_of("unittest", "nbgrader", "otter")), None),
    "release": {
        "withhold": Key(each(text), ()),
        "answers": Key(truth, False),
        "gradescope": {
            "timeout": Key(span(120, 2400, "10m"), 600.0),
            "attempts": Key(optional(whole(1, 1000)), None),
            "per": Key(span(60, 365 * 86_400, "24h"), 86_400.0),
            "hidden": Key(one_of("after_published", "after_due_date", "hidden"), "after_published"),
            "training": Key(truth, True),
            "files": Key(each(text), ()),
        },
    },
}

RUBRIC: Final[Table] = {"questions": Key(mapping)}

QUESTION: Final[Table] = {
    "title": Key(text),
    "points": Key(points),
    "model": Key(optional(text), None),
    "items": Key(rows),
    "groups": Key(mapping, {}),
    "accept": Key(each(text), ()),
    "note": Key(optional(text), None),
    "misconceptions": Key(rows, ()),
    "evidence": Key(each(text), ()),
    "references": Key(each(text), ()),
}

ITEM: Final[Table] = {
    "id": Key(item_id),
    "points": Key(signed_points),
    "text": Key(text),
    "group": Key(optional(text), None),
}

GROUP: Final[Table] = {
    "cap": Key(optional(points), None),
    "floor": Key(optional(deduction), None),
    "exclusive": Key(truth, False),
}

MISCONCEPTION: Final[Table] = {"text": Key(text), "comment": Key(text), "item": Key(optional(text), None)}
