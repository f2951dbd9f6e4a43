"""System call numbers as the kernel's own headers have them, stored so that they can be compared with ours anywhere.

`python system_calls.py X86_64_HEADER AARCH64_FOLDER > data/system_calls.txt` reads them by the C preprocessor:

    python tests/support/system_calls.py /usr/include/x86_64-linux-gnu /usr/aarch64-linux-gnu/include

The folders come with Debian's linux-libc-dev and linux-libc-dev-arm64-cross.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

STORED: Final = Path(__file__).parents[1] / "sandbox" / "host" / "data" / "system_calls.txt"
_COLUMNS: Final = ("x86_64", "aarch64")


def stored() -> dict[str, dict[str, int]]:
    """Architecture -> name -> number."""
    found: dict[str, dict[str, int]] = {column: {} for column in _COLUMNS}
    for line in STORED.read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        name, *numbers = line.split()
        for column, number in zip(_COLUMNS, numbers, strict=True):
            if number != "-":
                found[column][name] = int(number)
    return found


def read_headers(folder: str) -> dict[str, int]:
    """Name -> number, by the headers below `folder`."""
    # As if by a compiler of that architecture for 64-bit programs; its own headers come before any other.
    command = ["cpp", "-E", "-dM", "-nostdinc", "-D__BITS_PER_LONG=64", "-U__ILP32__", "-I", folder]
    generic = ["-I", "/usr/include"] if not Path(folder, "asm-generic").is_dir() else []
    said = subprocess.run(
        [*command, *generic, "-"], input="#include <asm/unistd.h>\n", capture_output=True, text=True, check=True
    )
    texts: dict[str, str] = dict(re.findall(r"^#define (__NR\w+) (\w+)$", said.stdout, re.MULTILINE))
    found = {}
    for name, text in texts.items():
        value = texts.get(text, text)
        if name.startswith("__NR_") and value.isdigit() and name not in ("__NR_syscalls", "__NR_arch_specific_syscall"):
            found[name.removeprefix("__NR_")] = int(value)
    return found


def main(folders: list[str]) -> None:
    """Print the table."""
    tables = [read_headers(folder) for folder in folders]
    print(f"# name, {', '.join(_COLUMNS)}; made by system_calls.py from the kernel's headers")
    for name in sorted(set().union(*tables)):
        print(name, *(table.get(name, "-") for table in tables))


if __name__ == "__main__":
    main(sys.argv[1:])
