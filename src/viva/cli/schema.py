"""`viva schema`: the JSON Schemas of results.json and of the course files."""

import json
from importlib import import_module
from typing import Final

import click

RESULTS: Final = "results"
COURSE_FILES: Final = {
    "grader": ("viva.config.load_course", "CourseFile"),
    "assignment": ("viva.config.load_assignment", "AssignmentFile"),
    "rubric": ("viva.config.rubric_file", "RubricFile"),
    "exceptions": ("viva.config.policy_file", "ExceptionsFile"),
    "submission": ("viva.submissions.examples", "ExampleFile"),
}
"""Where the class is that each file is read into."""


@click.command("schema")
@click.argument("file", type=click.Choice([RESULTS, *COURSE_FILES]), default=RESULTS, metavar="[FILE]")
def command(file: str) -> int:
    """Print the JSON Schema of results.json, or of a course file.

    FILE is results (the default), grader, assignment, rubric, exceptions or
    submission. With the schema of a course file, your editor explains its keys
    and marks mistakes.
    """
    click.echo(json.dumps(schema_of(file), indent=2, ensure_ascii=False))
    return 0


def schema_of(file: str) -> dict[str, object]:
    """Return the JSON Schema of `results`, or of a course file by its name without `.yaml`."""
    if file == RESULTS:
        from viva.formats import results_json

        return results_json.json_schema()
    from viva.config.json_schema import json_schema

    module, name = COURSE_FILES[file]
    return json_schema(getattr(import_module(module), name), f"{file}.yaml")
