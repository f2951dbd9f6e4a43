"""viva itself as a wheel, built from what is installed here, so that nothing has to be downloaded from an index."""

import base64
import hashlib
import io
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Final

import viva
from viva.model.extras import DISTRIBUTION

_TIME: Final = (2000, 1, 1, 0, 0, 0)
"""The same files give the same bytes."""
_WHEEL: Final = "Wheel-Version: 1.0\nGenerator: viva\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def wheel() -> tuple[str, bytes]:
    """Return the file's name and its bytes."""
    distribution = metadata.distribution(DISTRIBUTION)
    version = distribution.version
    folder = Path(viva.__file__).parent
    files = {
        f"viva/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    stem = f"{DISTRIBUTION.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    files[f"{info}/METADATA"] = (distribution.read_text("METADATA") or "").encode()
    files[f"{info}/WHEEL"] = _WHEEL.encode()
    files[f"{info}/entry_points.txt"] = (distribution.read_text("entry_points.txt") or "").encode()
    files[f"{info}/RECORD"] = _record(files, f"{info}/RECORD")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, _TIME)
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return f"{stem}-py3-none-any.whl", packed.getvalue()


def _record(files: dict[str, bytes], own: str) -> bytes:
    lines = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}")
    return "\n".join([*lines, f"{own},,", ""]).encode()
