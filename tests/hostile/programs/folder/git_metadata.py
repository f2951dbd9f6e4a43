"""Brings a repository whose hooks, filters, attributes, modules and alternates run commands or lead elsewhere."""

# makes a folder
from tests.support.hostile_files import ZERO


def hand_in(targets):
    command = f"touch {targets['base']}/executed"
    settings = f"[core]\n\tfsmonitor = {command}\n\thooksPath = hooks\n\tpager = {command}\n\tworktree = {targets['base']}/course\n"
    settings += f'[filter "x"]\n\tsmudge = {command}\n\tclean = {command}\n[diff "x"]\n\ttextconv = {command}\n[include]\n\tpath = {targets["secret"]}\n'
    hooks = {
        f"{folder}/{name}": {"program": f"#!/bin/sh\n{command}\n"}
        for folder in ("hooks", "sub/hooks")
        for name in ("post-checkout", "pre-commit")
    }
    return {
        "solution.py": ZERO, ".gitattributes": "* filter=x diff=x ident export-subst\n", ".gitignore": "solution.py\n",
        ".gitmodules": f'[submodule "../../x"]\n\tpath = x\n\turl = ext::{command}\n', ".gitconfig": settings, "config": settings, "HEAD": "ref: refs/heads/x\n",
        "sub/.git": f"gitdir: {targets['base']}/course", "sub/config": settings, "objects/info/alternates": targets["base"], **hooks,
    }  # fmt: skip
