"""The file of proposed tests: one test for each name that a question asks for."""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final

from viva.plugins.authoring.solved.proposal import Proposal, own_strategies
from viva.plugins.authoring.solved.questions import Question
from viva.submissions.code_names import Definition

_HEAD: Final = '''"""The questions of {title}. viva wrote these tests: keep, change or delete them."""

'''
_TEST: Final = '''

@number({number})
@weight({weight}){visibility}
def test_{name}({fixtures}):
    """{summary}"""
{body}
'''
_AGAIN: Final = """

test_{name}_again = with_other_arguments(test_{name})
"""
_BY_HAND: Final = '''

{why}@number({number})
@weight({weight})
def test_{name}(submission):
    """{summary}"""
    needs_review({what}, rubric={number})
'''
_WHY_BY_HAND: Final = "# A person grades `{name}`: {why}.\n"
_LEFT: Final = """

# TODO {number}, `{name}`: no test is proposed, because {why}.
"""


def is_graded_by_hand(question: Question, proposals: Mapping[str, Proposal]) -> bool:
    """Return whether a person grades a question: it is answered in words, or there is no test for any of its code."""
    return question.points != 0 and not any(proposals[name].body for name in question.names)


def points_of(question: Question, proposals: Mapping[str, Proposal]) -> Fraction:
    """Return the points of a question; where the notebook gives none, one for each test."""
    if question.points is not None:
        return question.points
    return Fraction(max(1, sum(bool(proposals[name].body) for name in question.names)))


def tests_source(title: str, questions: Sequence[Question], proposals: Mapping[str, Proposal]) -> str:
    """Return the source code of the tests; each proposal notes the name of its test."""
    tests: list[str] = []
    taken: set[str] = set()
    grading, drawing = {"number", "weight"}, set()
    definitions: dict[str, None] = {}
    for question in questions:
        points = points_of(question, proposals)
        if is_graded_by_hand(question, proposals):
            tests.append(_by_hand(question, points, proposals, taken))
            grading.add("needs_review")
            continue
        tested = [proposals[name] for name in question.names if proposals[name].body]
        for proposal in (proposals[name] for name in question.names):
            if proposal.body:
                name = _new_name(proposal.name, taken)
                proposal.test = f"test_{name}"
                tests.append(_test(question, name, points / len(tested), proposal))
                grading |= proposal.imports | ({"with_other_arguments"} if _is_repeated(proposal) else set())
                drawing |= proposal.strategies
                definitions |= dict.fromkeys(proposal.definitions)
            elif not proposal.tested_with:
                tests.append(_LEFT.format(number=question.number, name=proposal.name, why=proposal.reason))
    return (
        _HEAD.format(title=_sentence(title).rstrip(".") or "this assignment")
        + _top(list(definitions), grading, drawing)
        + "".join(tests)
    )


def _by_hand(question: Question, points: Fraction, proposals: Mapping[str, Proposal], taken: set[str]) -> str:
    number, untested = _quoted(question.number), [proposals[name] for name in question.names]
    if untested:
        what = f"submission.code({', '.join(_quoted(each.name) for each in untested)})"
        name = _new_name(untested[0].name, taken)
    else:
        what = f"submission.written[{number}]"
        name = "written_" + re.sub(r"\W+", "_", question.number).strip("_").lower()
    summary = (untested[0].summary if untested else "") or _sentence(question.title) or f"Question {question.number}."
    return _BY_HAND.format(
        why="".join(_WHY_BY_HAND.format(name=each.name, why=each.reason) for each in untested),
        number=number,
        weight=_weight(points),
        name=name,
        summary=summary.replace("\\", "\\\\"),
        what=what,
    )


def _new_name(name: str, taken: set[str]) -> str:
    """Return the name of a test without `test_`, in the usual letters; add it to those that are taken."""
    new = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    while new in taken:
        new += "_2"
    taken.add(new)
    return new


def _test(question: Question, name: str, points: Fraction, proposal: Proposal) -> str:
    """Return a test and, where it draws arguments, its hidden repetition, for half of the points each."""
    repeated = _is_repeated(proposal)
    test = _TEST.format(
        number=_quoted(question.number),
        weight=_weight(points / 2 if repeated else points),
        visibility='\n@visibility("hidden")' if proposal.hidden else "",
        fixtures=", ".join(proposal.fixtures),
        name=name,
        summary=(proposal.summary or _title_of_test(question, proposal.name)).replace("\\", "\\\\"),
        body="\n".join(proposal.body),
    )
    return test + (_AGAIN.format(name=name) if repeated else "")


def _title_of_test(question: Question, name: str) -> str:
    title = _sentence(question.title).rstrip(".")
    return f"{title} (`{name}`)." if title else f"`{name}` returns the expected result."


def _is_repeated(proposal: Proposal) -> bool:
    return "agree_on" in proposal.imports


def _quoted(number: str) -> str:
    return json.dumps(number, ensure_ascii=False)


def _top(definitions: Sequence[str], grading: set[str], drawing: set[str]) -> str:
    """Return the imports, and what tests use of the notebook."""
    own, others = own_strategies(drawing)
    imports = [text for text in definitions if isinstance(ast.parse(text).body[0], ast.Import | ast.ImportFrom)]
    helpers = [text for text in definitions if text not in imports]
    imports += [f"from hypothesis.strategies import {', '.join(others)}"] if others else []
    lines = sorted(imports, key=lambda text: (not text.startswith("from __future__"), text.startswith("from"), text))
    lines += ["", f"from viva.grading import {', '.join(sorted(grading))}"]
    lines += [f"from viva.grading.strategies import {', '.join(own)}"] if own else []
    after_definition = False
    for text in helpers:
        is_definition = isinstance(ast.parse(text).body[0], Definition)
        lines.append(f"\n\n{text}" if is_definition or after_definition else f"\n{text}")
        after_definition = is_definition
    return "\n".join(lines).lstrip("\n") + "\n"


def _weight(points: Fraction) -> str:
    return str(points) if points.denominator == 1 else f'"{points}"'


def _sentence(title: str) -> str:
    title = title.strip().rstrip(".").replace("\\", "").replace('"', "'")
    return title if title.endswith(("?", "!")) else f"{title}." if title else ""
