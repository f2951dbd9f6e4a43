"""Lets the notebook's own commands read secrets, write results and change what runs its cells."""

# makes a folder
# least tier: T1
from tests.support.hostile_files import ZERO, notebook


def hand_in(targets):
    cells = [
        f"!cat {targets['key']} {targets['secret']} {targets['results']}",
        f"%%bash\ncat {targets['key']}; echo '{{\"score\": 14}}' > {targets['results']}",
        f"%run {targets['key']}",
        f"found = !cat {targets['tests']}\nprint(found)",
        f"%load {targets['key']}\n%pycat {targets['key']}\n%psource open",
        f"%%writefile {targets['results']}\n{{}}",
        f"%cd {targets['base']}\n%ls -R\n%env\n%store -r\n%load_ext evil\n%config Application.verbose_crash=True",
        "ip = get_ipython()\nip.run_cell = ip.showtraceback = ip.events = None\nip.user_ns['ok'] = True\ndel ip",
        "import sys\nsys.stdout = sys.stderr = sys.displayhook = sys.excepthook = None",
        f"import pathlib\nfound = pathlib.Path({targets['key']!r})\nfound = found.read_text() if found.exists() else ''",
        ZERO.replace("return 0.0", "raise ValueError(found)"),
    ]
    return {"work.ipynb": notebook(*cells)}
