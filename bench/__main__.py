"""`make bench`: viva compared with what a user would pick instead, interleaved in one run, and the cost of its parts.

CPU of whole process trees is compared; wall time is shown.
"""

import argparse

from bench import against, assignments, parts
from bench.measure import COUNTS_BOXES

TABLES = ("others", "parts", "assignments", "training")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--size", type=int, default=20, help="submissions in the class")
    parser.add_argument("--sample", type=int, default=20, help="how many of them the tools with a process for each get")
    parser.add_argument("--rounds", type=int, default=4, help="interleaved rounds; medians are shown")
    parser.add_argument("--only", choices=TABLES, help="one of the tables")
    options = parser.parse_args()
    chosen = TABLES if options.only is None else (options.only,)
    if not COUNTS_BOXES:
        print("No control group can be made here: the CPU of the boxes themselves is missing below.\n")
    if "others" in chosen:
        against.table(options.size, min(options.sample, options.size), options.rounds)
    if "parts" in chosen:
        parts.table(options.rounds)
    if "assignments" in chosen:
        assignments.another_submission(options.rounds)
    if "training" in chosen:
        assignments.tests_that_train()


if __name__ == "__main__":
    main()
