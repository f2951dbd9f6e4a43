"""Packs links to the secrets, files that are written through links, devices, pipes and programs of another user."""

# makes a folder
import io
import tarfile

from tests.support.hostile_files import raw, telling

KINDS = {
    "sym": tarfile.SYMTYPE,
    "hard": tarfile.LNKTYPE,
    "char": tarfile.CHRTYPE,
    "block": tarfile.BLKTYPE,
    "pipe": tarfile.FIFOTYPE,
}


def hand_in(targets):
    data = io.BytesIO()
    solution = telling("read('sym') + read('hard') + read('sym/key.py') + read('out/graders/small/key.py')").encode()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, kind in KINDS.items():
            for where in (name, f"../{name}"):
                member = tarfile.TarInfo(where)
                member.type, member.linkname, member.devmajor, member.devminor = kind, targets["key"], 1, 5
                archive.addfile(member)
        out = tarfile.TarInfo("out")
        out.type, out.linkname = tarfile.SYMTYPE, targets["base"]
        archive.addfile(out)
        for name, mode in (("out/executed", 0o644), ("solution.py", 0o644), ("root.py", 0o6755)):
            member = tarfile.TarInfo(name)
            member.size, member.mode, member.uid = len(solution), mode, 0
            archive.addfile(member, io.BytesIO(solution))
    return {"work.tar.gz": raw(data.getvalue())}
