"""`viva pull canvas|moodle -o OUT`: fetch the submissions and the roster of an assignment from a learning platform."""

from pathlib import Path

import click

from viva.formats.escaping import line
from viva.plugins.cohorts.commands.options import connect_platform, page_option, platform_argument


@click.command("pull")
@platform_argument
@page_option
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), metavar="OUT", help="A folder that is new."
)
def command(platform: str, page: str, output: Path) -> int:
    """Fetch what a class submitted to Canvas or Moodle: OUT/submissions, which `viva grade` reads, and OUT/roster.csv.

    The token is read from VIVA_CANVAS_TOKEN or VIVA_MOODLE_TOKEN, or from the keyring.

    Exit status: 0 everything was fetched, 1 a submission was left out, or nothing was written because the platform
    does not answer or the command is wrong.
    """
    from viva.plugins.cohorts.lms.pulling import ROSTER, SUBMISSIONS, pull

    with connect_platform(platform, page) as site:
        pulled = pull(site, output, lambda name: click.echo(f"fetching {name}", err=True))
    for sentence in pulled.left_out:
        click.echo(f"viva: left out: {line(sentence, characters=600)}", err=True)
    click.echo(f"{output}: {pulled.submissions} submissions ({pulled.files} files), {pulled.students} students.")
    click.echo(f"viva grade {output / SUBMISSIONS} --roster {output / ROSTER} -o results")
    return 1 if pulled.left_out else 0
