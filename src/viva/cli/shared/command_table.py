"""The commands: their modules, their lines in `viva --help`, and the groups in which that shows them."""

from typing import Final, NamedTuple


class Command(NamedTuple):
    """One command."""

    module: str
    summary: str


GROUPS: Final[dict[str, dict[str, Command]]] = {
    "Set up": {
        "init": Command("init", "Create a course."),
        "import": Command("import_", "Create a course from assignments of another tool."),
        "doctor": Command("doctor", "Show isolation levels and features of this machine."),
    },
    "Write": {
        "new": Command("new", "Add an assignment to a course."),
        "new-test": Command("new_test", "Create a test for a question."),
        "example": Command("example", "Write out an example submission, or store one."),
        "verify": Command("verify", "Test the tests: grade the example submissions."),
        "preview": Command("preview", "Show what students will get and see."),
        "schema": Command("schema", "Print the JSON Schema of a course file or of results.json."),
    },
    "Hand out": {
        "release": Command("release", "Create what students or Gradescope get."),
    },
    "Check your own work": {
        "check": Command("check", "Run the public tests on your work."),
        "pack": Command("pack", "Create the archive to submit, and check it."),
    },
    "Grade": {
        "pull": Command("pull", "Fetch submissions and roster from Canvas or Moodle."),
        "grade": Command("grade", "Grade submissions and write their results."),
        "submissions": Command("submissions", "Show who submitted what in a platform's export."),
        "regrade": Command("regrade", "Grade a class again after tests or points changed."),
        "merge": Command("merge", "Combine results of several runs."),
    },
    "Look": {
        "report": Command("report", "Report on a class; write feedback for students."),
        "explain": Command("explain", "Run one test again and show its questions."),
        "shell": Command("shell", "Try a submission in its sandbox."),
        "diff": Command("diff", "Show what changed between two results."),
        "history": Command("history", "Show every score of a student, and why."),
    },
    "Grade by hand": {
        "review": Command("review", "Grade written answers in the browser."),
        "override": Command("override", "Set the points of one test, with a reason."),
    },
    "Hand back": {
        "grades": Command("grades", "Turn scores into grades for Canvas, Moodle or a table."),
        "push": Command("push", "Send grades and feedback to Canvas or Moodle."),
        "export": Command("export", "Write results for CI systems, or code to compare."),
        "student": Command("student", "Export or delete the records of a student."),
    },
}
COMMANDS: Final = {name: command for group in GROUPS.values() for name, command in group.items()}
ALIASES: Final = {"class": "submissions", "marks": "grades", "why": "explain"}
"""Earlier names, which help does not list."""
