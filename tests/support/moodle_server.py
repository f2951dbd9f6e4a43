"""The web service functions and file scripts of Moodle that viva uses, below a path, as its source describes them."""

import re
from typing import Any
from urllib.parse import quote, unquote

from tests.support.lms_server import TOKEN, Asked, Reply, Server

COURSE, ASSIGNMENT, MODULE = 3, 8, 56


class MoodleServer(Server):
    """A course with one assignment; the grader is a teacher."""

    def __init__(self) -> None:
        self.assignment: dict[str, Any] = {
            "id": ASSIGNMENT, "cmid": MODULE, "name": "Words", "grade": 10, "duedate": 1_790_000_000,
            "teamsubmission": 0, "blindmarking": 0, "revealidentities": 0, "markingworkflow": 0,
        }  # fmt: skip
        self.people: list[dict[str, Any]] = []
        self.grades: dict[int, float] = {}
        self.comments: dict[int, str] = {}
        self.feedback: dict[int, dict[str, bytes]] = {}
        self.drafts: dict[int, dict[str, bytes]] = {}
        self.submissions: list[dict[str, Any]] = []
        self.files: dict[str, bytes] = {}
        self.has_file_feedback = True
        super().__init__()
        self.site = f"{self.url}/moodle"

    @property
    def page(self) -> str:
        return f"{self.site}/mod/assign/view.php?id={MODULE}&action=grading"

    def enrol(self, number: int, name: str, login: str = "", role: str = "student", **more: Any) -> None:
        identity = {"username": login, "email": f"{login}@x.edu"} if login else {}
        self.people.append(
            {"id": number, "fullname": name, **identity, "roles": [{"roleid": 5, "shortname": role}], "groups": []}
            | more
        )

    def submit(self, user: int, *files: tuple[str, str, bytes], text: str = "", group: int = 0, **more: Any) -> None:
        listed = []
        for folder, name, data in files:
            key = f"{user}-{group}-{len(self.files)}"
            self.files[key] = data
            listed.append({
                "filename": name, "filepath": folder, "filesize": len(data),
                "fileurl": f"{self.site}/webservice/pluginfile.php/{key}",
            })  # fmt: skip
        plugins: list[dict[str, Any]] = [
            {"type": "file", "fileareas": [{"area": "submission_files", "files": listed}]},
            {"type": "onlinetext", "editorfields": [{"name": "onlinetext", "text": text, "format": 1}]},
            {"type": "comments"},
        ]
        self.submissions.append({
            "id": 100 + len(self.submissions), "userid": user, "groupid": group, "attemptnumber": 0,
            "timemodified": 1_789_999_000, "status": "submitted", "plugins": plugins, **more,
        })  # fmt: skip

    def answer(self, asked: Asked) -> Reply:
        found = re.fullmatch(r"/moodle/webservice/(\w+)\.php(?:/(.+))?", unquote(asked.path))
        if asked.path == "/moodle/webservice/rest/server.php":
            return self._function(asked)
        if found and found[1] in ("pluginfile", "upload") and asked.get("token") != TOKEN:
            return Reply(200, {"error": "Invalid token", "errorcode": "invalidtoken"})
        if found and found[1] == "pluginfile":
            if found[2].startswith("feedback/"):
                _, user, name = found[2].split("/")
                return Reply(200, self.feedback[int(user)][name])
            return Reply(200, self.files[found[2]]) if found[2] in self.files else Reply(404, b"not found")
        if found and found[1] == "upload":
            return self._upload(asked)
        return Reply(404, b"<html>no such page</html>")

    def _upload(self, asked: Asked) -> Reply:
        assert asked.file is not None and asked.get("filearea") == "draft"
        draft = int(asked.get("itemid")) or 700 + len(self.drafts)
        self.drafts.setdefault(draft, {})[asked.file[0]] = asked.file[1]
        return Reply(200, [{"component": "user", "itemid": draft, "filename": asked.file[0], "filepath": "/"}])

    def _function(self, asked: Asked) -> Reply:
        assert asked.method == "POST" and not asked.query and asked.get("moodlewsrestformat") == "json"
        if asked.get("wstoken") != TOKEN:
            return error("invalidtoken", "Invalid token - token not found")
        name = asked.get("wsfunction")
        handler = getattr(self, f"_{name}", None)
        if handler is None:
            return error("accessexception", "Access control exception")
        return Reply(200, handler(asked))

    def _mod_assign_get_assignments(self, asked: Asked) -> dict[str, Any]:
        other = {**self.assignment, "id": 1, "cmid": 2, "name": "Another"}
        return {"courses": [{"id": COURSE, "assignments": [other, self.assignment]}], "warnings": []}

    def _core_enrol_get_enrolled_users(self, asked: Asked) -> list[dict[str, Any]]:
        options = {asked.get(f"options[{i}][name]"): asked.get(f"options[{i}][value]") for i in range(3)}
        assert int(asked.get("courseid")) == COURSE and options["sortby"] == "id"
        start, count = int(options["limitfrom"]), int(options["limitnumber"])
        return sorted(self.people, key=lambda p: p["id"])[start : start + count]

    def _mod_assign_get_grades(self, asked: Asked) -> dict[str, Any]:
        assert int(asked.get("assignmentids[0]")) == ASSIGNMENT
        if not self.grades:
            return {"assignments": [], "warnings": [{"warningcode": "3", "message": "No grades found"}]}
        grades = [{"userid": u, "attemptnumber": 0, "grade": f"{g:.5f}"} for u, g in self.grades.items()]
        return {"assignments": [{"assignmentid": ASSIGNMENT, "grades": grades}], "warnings": []}

    def _mod_assign_get_submissions(self, asked: Asked) -> dict[str, Any]:
        return {"assignments": [{"assignmentid": ASSIGNMENT, "submissions": self.submissions}], "warnings": []}

    def _mod_assign_get_submission_status(self, asked: Asked) -> dict[str, Any]:
        user = int(asked.get("userid"))
        assert int(asked.get("assignid")) == ASSIGNMENT
        if user not in self.grades:
            return {"lastattempt": {}, "warnings": []}
        base = f"{self.site}/webservice/pluginfile.php/feedback/{user}"
        files = [
            {"filename": name, "filepath": "/", "fileurl": f"{base}/{quote(name)}"}
            for name in self.feedback.get(user, {})
        ]
        comment = [{"name": "comments", "text": self.comments.get(user, ""), "format": 1}]
        return {
            "feedback": {
                "grade": {"userid": user, "grade": f"{self.grades[user]:.5f}"},
                "plugins": [
                    {"type": "comments", "editorfields": comment},
                    {"type": "file", "fileareas": [{"area": "feedback_files", "files": files}]},
                ],
            },
            "warnings": [],
        }

    def _mod_assign_save_grade(self, asked: Asked) -> None:
        """As the source does it: a comment that is not sent is erased, and a draft area replaces all files."""
        user = int(asked.get("userid"))
        sent = {name for name, _ in asked.fields}
        assert {"assignmentid", "attemptnumber", "addattempt", "workflowstate", "applytoall"} <= sent
        self.grades[user] = float(asked.get("grade"))
        self.comments[user] = asked.get("plugindata[assignfeedbackcomments_editor][text]")
        if (draft := asked.get("plugindata[files_filemanager]")) and self.has_file_feedback:
            self.feedback[user] = dict(self.drafts[int(draft)])

    def writes(self) -> list[Asked]:
        return [
            a for a in self.asked if a.get("wsfunction") == "mod_assign_save_grade" or a.path.endswith("upload.php")
        ]


def error(code: str, message: str) -> Reply:
    return Reply(200, {"exception": "moodle_exception", "errorcode": code, "message": message})
