"""The end points of Canvas's REST API that viva uses, as its documentation describes them; and its file storage."""

import re
from typing import Any
from urllib.parse import urlencode

from tests.support.lms_server import TOKEN, Asked, Reply, Server

COURSE, ASSIGNMENT = 12, 34


class Storage(Server):
    """Another server, to which uploads and downloads lead; it must never see the token."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.confirm_at = ""
        self.confirm_status = 301
        super().__init__()

    def answer(self, asked: Asked) -> Reply:
        if asked.method == "POST" and asked.path == "/upload":
            assert asked.file is not None and asked.file_is_last and asked.get("key") == "signed"
            self.files[asked.file[0]] = asked.file[1]
            where = f"{self.confirm_at}?name={asked.file[0]}"
            return Reply(self.confirm_status, {}, {"Location": where})
        name = asked.path.removeprefix("/stored/")
        return Reply(200, self.files[name]) if name in self.files else Reply(404, {})


class CanvasServer(Server):
    """A course with one assignment."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.assignment: dict[str, Any] = {
            "id": ASSIGNMENT, "name": "Words", "points_possible": 10.0, "grading_type": "points",
            "group_category_id": None, "anonymize_students": False,
        }  # fmt: skip
        self.users: list[dict[str, Any]] = []
        self.submissions: dict[int, dict[str, Any]] = {}
        self.uploaded: dict[int, str] = {}
        self.per_page = 2
        self.late_penalty = 0.0
        super().__init__()
        storage.confirm_at = f"{self.url}/api/v1/files/confirm"

    @property
    def page(self) -> str:
        return f"{self.url}/courses/{COURSE}/assignments/{ASSIGNMENT}"

    def enrol(self, number: int, name: str, login: str = "", **more: Any) -> None:
        self.users.append({
            "id": number, "name": name, "sortable_name": more.pop("sortable_name", name),
            "login_id": login, "email": f"{login}@x.edu" if login else None, "sis_user_id": None, **more,
        })  # fmt: skip
        self.submissions[number] = {
            "id": 9000 + number, "user_id": number, "score": None, "entered_score": None, "excused": None,
            "workflow_state": "unsubmitted", "late": False, "submitted_at": None, "attachments": [],
            "submission_comments": [], "submission_type": None, "body": None, "url": None,
        }  # fmt: skip

    def attach(self, number: int, name: str, data: bytes, file_id: int, **more: Any) -> None:
        self.storage.files[f"{file_id}"] = data
        self.submissions[number]["attachments"].append(
            {"id": file_id, "display_name": name, "filename": name, "size": len(data),
             "url": f"{self.url}/files/{file_id}/download?verifier=v"}
        )  # fmt: skip
        self.submissions[number] |= {
            "workflow_state": "submitted", "submission_type": "online_upload", "submitted_at": "2026-10-05T09:07:00Z",
        } | more  # fmt: skip

    def answer(self, asked: Asked) -> Reply:
        if found := re.fullmatch(r"/files/(\d+)/download", asked.path):
            return Reply(302, b"", {"Location": f"{self.storage.url}/stored/{found[1]}"})
        if asked.headers.get("authorization") != f"Bearer {TOKEN}":
            said = {"errors": [{"message": "Invalid access token."}]}
            return Reply(401, said, {"WWW-Authenticate": 'Bearer realm="canvas-lms"'})
        base = f"/api/v1/courses/{COURSE}"
        one = re.fullmatch(rf"{base}/assignments/{ASSIGNMENT}/submissions/(\d+)(/comments/files)?", asked.path)
        if asked.path == f"{base}/assignments/{ASSIGNMENT}":
            return Reply(200, self.assignment)
        if asked.path == f"{base}/users":
            assert ("enrollment_type[]", "student") in asked.query
            return self._paged(asked, self.users)
        if asked.path == f"{base}/assignments/{ASSIGNMENT}/submissions":
            return self._paged(asked, [self._shown(asked, s) for s in self.submissions.values()])
        if asked.path == "/api/v1/files/confirm":
            number = 5000 + len(self.uploaded)
            self.uploaded[number] = asked.get("name")
            return Reply(200, {"id": number, "display_name": asked.get("name")})
        if one and int(one[1]) in self.submissions:
            return self._one(asked, self.submissions[int(one[1])], is_file=one[2] is not None)
        return Reply(404, {"errors": [{"message": "The specified resource does not exist."}]})

    def _one(self, asked: Asked, submission: dict[str, Any], *, is_file: bool) -> Reply:
        if is_file:
            assert asked.method == "POST" and asked.get("size").isdigit() and asked.get("name")
            return Reply(200, {"upload_url": f"{self.storage.url}/upload", "upload_params": {"key": "signed"}})
        if asked.method == "PUT":
            if posted := asked.get("submission[posted_grade]"):
                entered = float(posted)
                submission |= {"entered_score": entered, "score": entered - self.late_penalty, "excused": False}
            if asked.get("submission[excuse]") == "true":
                submission |= {"entered_score": None, "score": None, "excused": True}
            files = [int(value) for name, value in asked.fields if name == "comment[file_ids][]"]
            if files:
                attached = [{"id": n, "display_name": self.uploaded[n], "filename": self.uploaded[n]} for n in files]
                comment = {"comment": asked.get("comment[text_comment]"), "attachments": attached}
                submission["submission_comments"].append(comment)
            return Reply(200, {k: v for k, v in submission.items() if k != "submission_comments"})
        return Reply(200, self._shown(asked, submission))

    def _shown(self, asked: Asked, submission: dict[str, Any]) -> dict[str, Any]:
        wanted = ("include[]", "submission_comments") in asked.query
        return {k: v for k, v in submission.items() if wanted or k != "submission_comments"}

    def _paged(self, asked: Asked, rows: list[dict[str, Any]]) -> Reply:
        assert int(asked.get("per_page")) <= 100
        at = int(asked.get("page", "1"))
        query = urlencode([(k, v) for k, v in asked.query if k != "page"] + [("page", str(at + 1))])
        headers = {}
        if at * self.per_page < len(rows):
            headers["Link"] = f'<{self.url}{asked.path}?{query}>; rel="next", <{self.url}/x>; rel="last"'
        return Reply(200, rows[(at - 1) * self.per_page : at * self.per_page], headers)

    def grades(self) -> dict[int, float | None]:
        return {number: each["entered_score"] for number, each in self.submissions.items()}
