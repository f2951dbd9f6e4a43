"""Brings code that the examiner's own start, its test runner or its libraries might pick up from the folder."""

# makes a folder
from tests.support.hostile_files import ZERO, evil


def hand_in(targets):
    code = evil(targets)
    names = ["conftest.py", "sitecustomize.py", "usercustomize.py", "viva/__init__.py", "graders/small/key.py", "test_small.py", "_pytest/__init__.py",
             "__init__.py", "__main__.py", "setup.py", "evil.py", "msgpack/__init__.py", "yaml/__init__.py"]  # fmt: skip
    settings = {
        "pytest.ini": "[pytest]\naddopts = -p evil\n",
        "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-p evil"\npythonpath = ["."]\n',
        "grader.yaml": "course: mine\nsecret: env:HOME\nassignments: [small]\nmin_tier: T0\n",
        "assignments/small/assignment.yaml": "title: x\npoints: 1000\nlimits: {memory_mib: 100000}\nsubmission: {module: solution.py}\n",
        "evil.pth": "import os; " + code.replace("\n", "; ").removeprefix("import os; "),
        "python311._pth": ".\nimport site\n",
    }
    return {"solution.py": ZERO, **dict.fromkeys(names, code), **settings}
