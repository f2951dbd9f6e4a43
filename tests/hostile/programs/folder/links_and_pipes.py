"""Submits symbolic and hard links to the secrets, links in a circle, a pipe, a socket and a file of a terabyte."""

# makes a folder
from tests.support.hostile_files import telling


def hand_in(targets):
    places = ["key", "tests", "secret", "other", "results"]
    look = " + ".join(
        f"read({name!r})" for name in [*places, *(f"hard_{p}" for p in places), "all/key.py", "shadow", "environment"]
    )
    files = {"solution.py": telling(look), "notes.txt": "x", "all": {"link": targets["base"] + "/course/graders/small"}}
    files |= {place: {"link": targets[place]} for place in places}
    files |= {f"hard_{place}": {"hard link": targets[place]} for place in ("key", "tests", "secret")}
    files |= {"shadow": {"link": "/etc/shadow"}, "environment": {"link": f"/proc/{targets['examiner']}/environ"}}
    files |= {
        "a": {"link": "b"},
        "b": {"link": "a"},
        "up": {"link": "../../.."},
        "me": {"link": "."},
        "zero": {"link": "/dev/zero"},
    }
    return files | {"answers.yaml": {"pipe": ""}, "socket.py": {"socket": ""}, "set_user_id.py": {"program": "x = 1\n"}}
