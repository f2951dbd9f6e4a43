"""`python -m viva.plugins.authoring.solved.child`: run a solved notebook in its own process, and propose its tests.

The notebook may print whatever it likes, and may end the process. Its folder is the current one, also for the trials.
"""

import dataclasses
from typing import Any

from viva.model.child_process import answer, read_request
from viva.plugins.authoring.solved.class_proposal import of_class
from viva.plugins.authoring.solved.opened_files import OpenedFiles
from viva.plugins.authoring.solved.proposal import Proposal
from viva.plugins.authoring.solved.proposals import of_value, propose_function
from viva.plugins.authoring.solved.recorded_run import run
from viva.plugins.authoring.solved.solution_code import typed_texts
from viva.plugins.authoring.source.source_cells import Cell


def main() -> None:
    """Answer one request."""
    request = read_request()
    cells = [Cell(**each) for each in request["cells"]]
    opened = OpenedFiles()
    names = frozenset(request["functions"]) | frozenset(request["classes"])
    recorded = run(cells, names)
    recorded.written = names | frozenset(request["values"])
    typed = {name for cell in cells for name in typed_texts(cell.source)}
    found: list[Proposal] = [
        *(propose_function(name, recorded) for name in request["functions"]),
        *(of_class(name, recorded) for name in request["classes"]),
        *(of_value(name, recorded, typed=name in typed) for name in request["values"]),
    ]
    answer(
        request,
        {
            "proposals": [_plain(each) for each in found],
            "failed": recorded.failed,
            "read": opened.read,
            "written": sorted(opened.written),
        },
    )


def _plain(proposal: Proposal) -> dict[str, Any]:
    return {
        name: sorted(value) if isinstance(value, set) else value for name, value in dataclasses.asdict(proposal).items()
    }


if __name__ == "__main__":
    main()
