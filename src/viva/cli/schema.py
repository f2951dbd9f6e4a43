"""`viva schema`: the JSON Schema of results.json."""

import json

import click


@click.command("schema")
def command() -> int:
    """Print the JSON Schema that every results.json satisfies."""
    from viva.formats.results_json import json_schema

    click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))
    return 0
