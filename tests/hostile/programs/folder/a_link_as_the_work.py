"""Submits a link to the answer key, and one to another student's solution, in place of its own work."""

# makes a folder
# turns: 2
ONLY = "solution.py"


def hand_in(targets):
    return {"solution.py": {"link": targets[["other", "key"][targets["turn"]]]}}
