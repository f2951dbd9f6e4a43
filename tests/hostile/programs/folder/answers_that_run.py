"""Writes an answer sheet with tags that make objects, anchors that grow a billion times, merged keys and circles."""

# makes a folder
# turns: 7
from tests.support.hostile_files import ZERO


def hand_in(targets):
    command = f"touch {targets['base']}/executed"
    laughs = 'a0: &a0 "ha"\n' + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12))
    sheet = [
        f'"1.1": !!python/object/apply:os.system ["{command}"]\n',
        laughs + '"1.1": *a11\n',
        '"1.1": &a [*a]\n"1.2": {<<: {a: 1}, <<: [{b: 2}]}\n"1.3": !!binary AAAA\n"1.4": !!set {a, c}\n',
        '"1.3": ' + "9" * 200_000 + '\n"1.1": 0x' + "f" * 200_000 + '\n"1.2": 1_0:59:59:59\n"1.4": 2001-99-99\n',
        '"1.1": ' + "[" * 50_000 + "]" * 50_000 + "\n",
        "".join(f'"1.{n}": x\n' for n in range(60_000)) + '"1.1": y\n"1.1": z\n',
        "? " * 20_000 + "x\n" + "- " * 20_000 + "%YAML 9.9\n--- >\n\u2028...\n---\n*nobody\n",
    ][targets["turn"]]
    return {"solution.py": ZERO, "answers.yaml": sheet}
