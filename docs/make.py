"""The first step of `make docs`: the README's picture and the JSON Schema from real runs, and a look at every link."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

sys.path.insert(0, str(Path(__file__).parents[1]))
from docs.site.link_check import broken_links  # a script finds only what is in its own folder

ROOT = Path(__file__).parents[1]
VIVA = Path(sys.executable).parent / "viva"
SUBMISSIONS = "fixtures/translation_and_masks/submissions"
WIDTH = 120


def main() -> None:
    """Write docs/demo.svg and docs/results.schema.json; fail on a broken link."""
    demo = [f"{SUBMISSIONS}/{name}" for name in (ROOT / "docs/demo.txt").read_text("utf-8").split()]
    shown = [
        ("viva grade submissions/*", ["grade", "--tier", "best", *demo]),
        (
            "viva grade submissions/wrong/unclipped_counts --only 1.4",
            ["grade", "--tier", "best", "--only", "1.4", f"{SUBMISSIONS}/wrong/unclipped_counts"],
        ),
    ]
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    for prompt, arguments in shown:
        console.print(Text(f"$ {prompt}", style="bold"))
        # Renderers drop spaces at the beginning of a text, so the text begins behind them, in a style of its own.
        output = re.sub(r"^( +)(?=\S)", "\\1\x1b[39m", run(arguments, colour=True), flags=re.M)
        console.print(Text.from_ansi(output))
    (ROOT / "docs" / "demo.svg").write_text(console.export_svg(title="viva"), "utf-8")
    (ROOT / "docs" / "results.schema.json").write_text(run(["schema"], colour=False), "utf-8")
    broken = broken_links()
    if broken:
        sys.exit("\n".join(broken))


def run(arguments: list[str], *, colour: bool) -> str:
    """Return what a command prints, in colours or plain."""
    env = {**os.environ, "COLUMNS": str(WIDTH), "VIVA_SECRET": "the picture's secret, known to everybody"}
    env |= {"FORCE_COLOR": "1"} if colour else {}
    done = subprocess.run([VIVA, *arguments], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    main()
