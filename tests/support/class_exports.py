"""One class as each platform exports it: archives with the names, files and tables that the real ones have.

The people are chosen to be hard: two of one name, scripts from right to left, accents in two spellings, no name at all.
Run it with a folder to have a look: `python exports.py FOLDER`.
"""

import io
import sys
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from viva.submissions.class_export import ClassExport

CODE = b"def answer():\n    return 42\n"
NOTEBOOK = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
# In normal form C in the rosters, and D (base letter and accent apart) in some exports.
ZOE_C, ZOE_D = "Zoë Müller", "Zoe\u0308 Mu\u0308ller"
HEBREW, ARABIC, CHINESE, GREEK = "נועה לוי", "ليلى حداد", "王伟", "Σοφία Παπαδοπούλου"
Files = Mapping[str, bytes]
Read = Callable[..., ClassExport]


def zipped(path: Path, files: Files) -> Path:
    """A zip archive of these files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def tarred(path: Path, files: Files) -> Path:
    """A tar archive of these files, compressed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def laid_out(folder: Path, files: Files) -> Path:
    """The same as a folder; a name that ends in `/` is an empty folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        target = folder / name
        if name.endswith("/"):
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return folder


def names(path: Path) -> list[str]:
    """Every file below a folder."""
    return sorted(p.relative_to(path).as_posix() for p in path.rglob("*") if p.is_file())


def inner_zip(files: Files) -> bytes:
    """One student's archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


CANVAS: Files = {
    "lovelaceada_1001_5001_solution.py": CODE,
    "lovelaceada_1001_5002_notes.txt": b"notes",
    "turingalan_LATE_1002_5003_solution-1.py": CODE,  # the second time
    "müllerzoë_1003_5004_solution.py": CODE,
    "müllerzoë_1003_5009_solution-1.py": CODE + b"# better\n",  # both times are there
    "לוינועה_1004_5005_hw.zip": inner_zip({"solution.py": CODE}),
    "王伟_1005_5006_solution.py": CODE,
    "1006_5007_solution.py": CODE,  # no one's name has a letter that is left
    "LATE_anon_Ab3xY_5008_solution.py": CODE,
    "smithjo_1007_text.html": b"<p>my answer</p>",
    "smithjo_1008_5010_solution.py": CODE,  # another one of the same name
    "README": b"what is this",
}
CANVAS_GRADEBOOK = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Homework 1 (77),Current Score\n"
    ",,,,,Manual Posting,(read only)\n"
    '"    Points Possible",,,,,10.00,(read only)\n'
    '"Lovelace, Ada",1001,S1,ada,"Monday and Tuesday",,\n'
    '"Turing, Alan",1002,S2,alan,Monday,,\n'
    '"Müller, Zoë",1003,S3,zoe,Monday,,\n'
    '"לוי, נועה",1004,S4,noa,Monday,,\n'
    "王伟,1005,S5,wei,Monday,,\n"
    '"?",1006,S6,six,Monday,,\n'
    '"Smith, Jo",1007,S7,jo1,Monday,,\n'
    '"Smith, Jo",1008,S8,jo2,Tuesday,,\n'
    '"Hopper, Grace",1009,S9,grace,Monday,,\n'
    '"Student, Test",1010,,,Monday,,\n'
)

MOODLE: Files = {
    "Ada Lovelace_301_assignsubmission_file/solution.py": CODE,
    "Ada Lovelace_301_assignsubmission_file/data/x.txt": b"x",
    "Ada Lovelace_301_assignsubmission_onlinetext/onlinetext.html": b"<p>see file</p>",
    f"{ZOE_D}_302_assignsubmission_file_/hw.ipynb": NOTEBOOK,
    f"noa_{HEBREW}_303_assignsubmission_file/solution.py": CODE,
    f"{ARABIC}_304_assignsubmission_onlinetext/onlinetext.html": b"<p>text only</p>",
    "Team Rocket_9_assignsubmission_file/solution.py": CODE,
    "Jo Smith_305_assignsubmission_file/solution.py": CODE,
    "Jo Smith_306_assignsubmission_file/solution.py": CODE,
}
MOODLE_FLAT: Files = {
    "Ada Lovelace_301_assignsubmission_file_solution.py": CODE,
    "Ada Lovelace_301_assignsubmission_file_helper.py": CODE,
    "Ada Lovelace_301_assignsubmission_onlinetext_onlinetext.html": b"<p>see file</p>",
    "Participant_307_assignsubmission_file_hw.ipynb": NOTEBOOK,
}
MOODLE_WORKSHEET = (
    "Identifier,Full name,Email address,ID number,Status,Group,Grade,Maximum grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments\n"
    'Participant 301,Ada Lovelace,ada@x.edu,M1,Submitted for grading,,,10.00,Yes,"5 October 2026, 11:07",-,\n'
    f"Participant 302,{ZOE_C},zoe@x.edu,M2,Submitted for grading,,,10.00,Yes,-,-,\n"
    f"Participant 303,{HEBREW},noa@x.edu,M3,Submitted for grading,,,10.00,Yes,-,-,\n"
    f"Participant 304,{ARABIC},leila@x.edu,M4,Submitted for grading,,,10.00,Yes,-,-,\n"
    "Participant 305,Jo Smith,jo1@x.edu,M5,Submitted for grading,,,10.00,Yes,-,-,\n"
    "Participant 306,Jo Smith,jo2@x.edu,M6,Submitted for grading,,,10.00,Yes,-,-,\n"
    "Participant 9,Grace Hopper,grace@x.edu,M9,Submitted for grading,Team Rocket,,10.00,Yes,-,-,\n"
    "Participant 308,Jesse James,jesse@x.edu,M8,Submitted for grading,Team Rocket,,10.00,Yes,-,-,\n"
    "Participant 309,Late Comer,late@x.edu,M10,No submission,,,10.00,Yes,-,-,\n"
)
MOODLE_GERMAN = (
    "ID;Vollständiger Name;E-Mail-Adresse;Status;Gruppe;Bewertung;Bestwertung\n"
    "Teilnehmer/in301;Ada Lovelace;ada@x.edu;Zur Bewertung abgegeben;Rot;;10,00\n"
    f"Teilnehmer/in302;{ZOE_C};zoe@x.edu;Zur Bewertung abgegeben;Rot;;10,00\n"
)

_METADATA = """---
submission_11:
  :submitters:
  - :name: Ada Lovelace
    :sid: '100'
    :email: ada@x.edu
  - :name: "{hebrew}"
    :sid: '101'
    :email: noa@x.edu
  :created_at: 2026-10-05 11:07:00.25 -07:00
  :score: 18.0
  :status: processed
  :results:
    tests:
    - name: one
      output: |
        submission_99:
          :submitters: []
  :history:
  - :created_at: 2026-10-04 09:00:00.0 -07:00
    :id: 9
    :score: 3.0
  - :created_at: 2026-10-04 10:00:00.0 -07:00
    :id: 10
    :score: 4.0
submission_12:
  :submitters:
  - :name: Jo Smith
    :sid: '102'
  :created_at: 2026-10-06 00:00:00 Z
  :history: []
submission_13:
  :submitters:
  - :name: "{arabic}"
    :sid: ''
    :email: leila@x.edu
  :created_at: '2026-10-05 08:00:00 UTC'
submission_14:
  :submitters:
  - :name: Jo Smith
    :sid: '103'
    :email: jo2@x.edu
  :created_at: 2026-10-05 08:00:00.0 +02:00
submission_15:
  :submitters:
  - :name: Gone
    :sid: '109'
  :created_at: 2026-10-05 08:00:00.0 +02:00
"""
GRADESCOPE: Files = {
    "assignment_7_export/submission_metadata.yml": _METADATA.format(hebrew=HEBREW, arabic=ARABIC).encode(),
    "assignment_7_export/submission_11/solution.py": CODE,
    "assignment_7_export/submission_12/solution.py": CODE,
    "assignment_7_export/submission_13/hw.zip": inner_zip({"solution.py": CODE}),
    "assignment_7_export/submission_14/solution.py": CODE,
    "assignment_7_export/submission_98/solution.py": CODE,
}
GRADESCOPE_ROSTER = (
    "First Name,Last Name,Email,SID,Role\n"
    "Ada,Lovelace,ada@x.edu,100,Student\n"
    "נועה,לוי,noa@x.edu,101,Student\n"
    "Jo,Smith,jo1@x.edu,102,Student\n"
    "Jo,Smith,jo2@x.edu,103,Student\n"
    "ليلى,حداد,leila@x.edu,104,Student\n"
    "Grace,Hopper,grace@x.edu,105,Student\n"
    "Ina,Structor,ina@x.edu,,Instructor\n"
)

GITHUB: Files = {
    "hw1-submissions/hw1-ada/solution.py": CODE,
    "hw1-submissions/hw1-ada/.git/config": b"[core]\n\tfsmonitor = touch /tmp/owned\n",
    "hw1-submissions/hw1-ada/.git/HEAD": b"ref: refs/heads/main\n",
    "hw1-submissions/hw1-jo-smith/solution.py": CODE,
    "hw1-submissions/hw1-jo-smith/.git/HEAD": b"ref: refs/heads/main\n",
    "hw1-submissions/hw1-team-rocket/hw.ipynb": NOTEBOOK,
    "hw1-submissions/hw1-team-rocket/.git/HEAD": b"ref: refs/heads/main\n",
    "hw1-submissions/hw2-ada/solution.py": CODE,
}
CLASSROOM_ROSTER = (
    '"identifier","github_username","github_id","name"\n'
    '"ada@x.edu","ada","1","Ada Lovelace"\n'
    '"jo@x.edu","Jo-Smith","2",""\n'
    f'"noa@x.edu","","","{HEBREW}"\n'
)
CLASSROOM_GRADES = (
    '"assignment_name","assignment_url","starter_code_url","github_username","roster_identifier",'
    '"student_repository_name","student_repository_url","submission_timestamp","points_awarded","points_available",'
    '"group_name"\n'
    '"HW1","u","u","ada","ada@x.edu","hw1-ada","u","2026-10-05 11:07:00 UTC","1","2",""\n'
    '"HW1","u","u","jo-smith","jo@x.edu","hw1-jo-smith","u","2026-10-06 11:07:00 UTC","1","2",""\n'
    '"HW1","u","u","jesse","jesse@x.edu","hw1-team-rocket","u","2026-10-05 11:07:00 UTC","1","2","team-rocket"\n'
    '"HW1","u","u","james","james@x.edu","hw1-team-rocket","u","2026-10-05 11:07:00 UTC","1","2","team-rocket"\n'
)

NBGRADER: Files = {
    "submitted/ada/ps1/problem1.ipynb": NOTEBOOK,
    "submitted/ada/ps1/timestamp.txt": b"2026-10-05 11:07:00.250000 Europe/Zurich",
    "submitted/noa/ps1/problem1.ipynb": NOTEBOOK,
    "submitted/noa/ps1/timestamp.txt": b"2026-10-05 11:07:00 UTC\n",
    f"submitted/{CHINESE}/ps1/problem1.ipynb": NOTEBOOK,
    f"submitted/{CHINESE}/ps1/timestamp.txt": b"yesterday",
    "submitted/jo/ps1/problem1.ipynb": NOTEBOOK,
    "submitted/jo/notes.txt": b"?",
}

BRIGHTSPACE: Files = {
    "777-67890 - Ada Lovelace - Oct 5, 2026 1107 AM/solution.py": CODE,
    "777-67890 - Ada Lovelace - Oct 6, 2026 1207 AM/solution.py": CODE,
    f"777-67889 - {HEBREW} - Oct 5, 2026 1210 PM/hw.zip": inner_zip({"solution.py": CODE}),
    f"777-67891 - {GREEK} - 5 Οκτ 2026 1107/solution.py": CODE,
    "777-67892 - Anne-Marie O'Neil - Jr. - Oct 5, 2026 107 PM/solution.py": CODE,
    "index.html": b"<html>",
}
BRIGHTSPACE_ROSTER = (
    "OrgDefinedId,Username,Last Name,First Name,Email,End-of-Line Indicator\n"
    "#B1,#ada,Lovelace,Ada,ada@x.edu,#\n"
    "#B2,#noa,לוי,נועה,noa@x.edu,#\n"
    "#B3,#sofia,Παπαδοπούλου,Σοφία,sofia@x.edu,#\n"
    "#B4,#am,O'Neil - Jr.,Anne-Marie,am@x.edu,#\n"
    "#B5,#grace,Hopper,Grace,grace@x.edu,#\n"
)

FOLDERS: Files = {
    "ada/solution.py": CODE,
    f"{HEBREW}/hw.ipynb": NOTEBOOK,
    "bob.zip": inner_zip({"solution.py": CODE}),
    "roster.csv": b"id,name\nada,Ada Lovelace\n",
}
LOOSE: Files = {
    "ada.py": CODE,
    f"{ZOE_D}.ipynb": NOTEBOOK,
    "1003.ipynb": NOTEBOOK,
    "instructions.pdf": b"%PDF",
}
ARCHIVES: Files = {
    "ada.zip": inner_zip({"solution.py": CODE}),
    "jo.tar.gz": b"\x1f\x8b nothing that is opened here",
}

EXPORTS: Mapping[str, Files] = {
    "Homework_1 submissions.zip": CANVAS,
    "NLP-HW1-4711.zip": MOODLE,
    "NLP-HW1-flat-4711.zip": MOODLE_FLAT,
    "assignment_7_export.zip": GRADESCOPE,
    "hw1-submissions.tar.gz": GITHUB,
    "nbgrader.tar.gz": NBGRADER,
    "Homework 1 Download Oct 7, 2026.zip": BRIGHTSPACE,
    "folders.zip": FOLDERS,
    "loose.zip": LOOSE,
    "archives.zip": ARCHIVES,
}
ROSTERS: Mapping[str, str] = {
    "canvas.csv": CANVAS_GRADEBOOK,
    "moodle.csv": MOODLE_WORKSHEET,
    "moodle_german.csv": MOODLE_GERMAN,
    "gradescope.csv": GRADESCOPE_ROSTER,
    "classroom_roster.csv": CLASSROOM_ROSTER,
    "grades.csv": CLASSROOM_GRADES,
    "brightspace.csv": BRIGHTSPACE_ROSTER,
}


def write_all(folder: Path) -> None:
    """Every export and every roster, as a teacher downloads them."""
    for name, files in EXPORTS.items():
        (tarred if name.endswith(".tar.gz") else zipped)(folder / name, files)
    for name, text in ROSTERS.items():
        (folder / name).write_text(text, "utf-8")


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
