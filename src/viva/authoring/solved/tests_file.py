"""The file of proposed tests: one test for each name that a question asks for."""

import json
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final

from viva.authoring.solved.proposal import Proposal, own_strategies
from viva.authoring.solved.questions import Question

_HEAD: Final = '''"""The questions of {title}. viva proposed these tests: keep, change or delete them."""

'''
_TEST: Final = '''

@number({number})
@weight({weight}){visibility}
def test_{name}({fixtures}):
    """{summary}"""
{body}
'''
_BY_HAND: Final = '''

@number({number})
@weight({weight})
def test_written_{name}(submission):
    """{summary}"""
    needs_review(submission.written[{number}], rubric={number})
'''
_LEFT: Final = """

# TODO {number}, `{name}`: no test is proposed, because {why}.
"""


def tests_source(title: str, questions: Sequence[Question], proposals: Mapping[str, Proposal]) -> str:
    """Return the source code of the tests."""
    tests: list[str] = []
    grading, drawing = {"number", "weight"}, set()
    for question in questions:
        number = json.dumps(question.number, ensure_ascii=False)
        if question.is_written:
            grading.add("needs_review")
            summary = _sentence(question.title) or f"Question {question.number}."
            name = re.sub(r"\W+", "_", question.number).strip("_").lower()
            weight = _weight(question.points or Fraction(1))
            tests.append(_BY_HAND.format(number=number, weight=weight, name=name, summary=summary))
            continue
        asked = [proposals[name] for name in [*question.functions, *question.classes, *question.values]]
        tested = [proposal for proposal in asked if proposal.body]
        for proposal in asked:
            if not proposal.body:
                tests.append(_LEFT.format(number=question.number, name=proposal.name, why=proposal.why_not))
                continue
            share = (question.points or Fraction(len(tested))) / len(tested)
            tests.append(
                _TEST.format(
                    number=number,
                    weight=_weight(share),
                    visibility='\n@visibility("hidden")' if proposal.hidden else "",
                    fixtures=", ".join(proposal.fixtures),
                    name=re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", proposal.name).lower(),
                    summary=proposal.summary.replace("\\", "\\\\"),
                    body="\n".join(proposal.body),
                )
            )
            grading |= proposal.imports
            drawing |= proposal.strategies
    return _HEAD.format(title=title) + _imports(grading, drawing) + "".join(tests)


def _imports(grading: set[str], drawing: set[str]) -> str:
    own, others = own_strategies(drawing)
    lines = [f"from hypothesis.strategies import {', '.join(others)}\n\n"] if others else []
    lines.append(f"from viva.grading import {', '.join(sorted(grading))}\n")
    lines += [f"from viva.grading.strategies import {', '.join(own)}\n"] if own else []
    return "".join(lines)


def _weight(points: Fraction) -> str:
    return str(points) if points.denominator == 1 else f'"{points}"'


def _sentence(title: str) -> str:
    title = title.strip().rstrip(".").replace("\\", "").replace('"', "'")
    return title if title.endswith(("?", "!")) else f"{title}." if title else ""
