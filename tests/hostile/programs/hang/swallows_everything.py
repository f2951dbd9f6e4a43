"""Catches whatever is raised to stop it, and goes on."""


def table(words):
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue
