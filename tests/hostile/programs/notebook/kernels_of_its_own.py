"""Names kernels, languages, extensions and programs of its own in the metadata, and brings their specifications along."""

# makes a folder
import json

from tests.support.hostile_files import ZERO, evil, notebook


def hand_in(targets):
    command = ["sh", "-c", f"touch {targets['base']}/executed"]
    kernel = json.dumps(
        {"argv": command, "display_name": "<img src=x>", "language": "python", "env": {"LD_PRELOAD": "./x.so"}}
    )
    metadata = {
        "kernelspec": {"name": "../../evil", "display_name": "\x1b]0;x\x07", "language": "bash", "argv": command},
        "language_info": {"name": "sh", "file_extension": ".sh", "nbconvert_exporter": "evil.Exporter"},
        "jupyter": {"extensions": ["evil"]}, "widgets": {"application/vnd.jupyter.widget-state+json": {"state": 10**6 * "x"}},
        "celltoolbar": "x", "nbgrader": {"grade": True}, "execution": {"timeout": -1, "kernel_name": "evil"},
    }  # fmt: skip
    names = [
        "evil/kernel.json",
        "kernel.json",
        ".local/share/jupyter/kernels/python3/kernel.json",
        "share/jupyter/kernels/evil/kernel.json",
    ]
    return {"work.ipynb": notebook(ZERO, metadata=metadata), "evil.py": evil(targets), **dict.fromkeys(names, kernel)}
