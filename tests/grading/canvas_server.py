"""A server that speaks as much of Canvas's API as grades and feedback need, made from its documentation
(developerdocs.instructure.com/services/canvas: Submissions, Assignments, Pagination, File Uploads, Throttling).

It is strict where Canvas is: a request without the token is nobody's, a page of a list is reached by its own opaque
address, an upload whose parameters were changed or whose file does not come last is turned down, as is one that brings
the token along, a file counts from its confirmation on, and only files of a submission's comments can be attached.
"""

import json
import secrets
import threading
from contextlib import contextmanager
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

TOKEN = "7~secret"


class Course:
    """What Canvas knows of a course with one assignment, and what was asked of it."""

    def __init__(self, points_possible, users, page_size=2):
        self.points_possible, self.page_size = points_possible, page_size
        self.submissions = {
            user: {"user_id": user, "score": None, "late": False, "excused": None, "late_policy_status": None,
                   "submission_comments": []}
            for user in users
        }  # fmt: skip
        self.is_anonymous = False  # whether whoever grades sees names
        self.deducts = 0.0  # of what is late, by Canvas's own late policy
        self.slow_down = 0  # how many requests are turned down for being too many
        self.redirects = True  # how a file's upload is answered
        self.pages, self.uploads, self.files = {}, {}, {}
        self.asked = []

    def anonymous(self, user):
        """What Canvas calls a user's submission where it is graded anonymously: five letters and digits."""
        return f"k3J{user % 100:02}"

    def shown(self, one):
        """A submission, with the user's number or without."""
        if not self.is_anonymous:
            return one
        named = {"anonymous_id": self.anonymous(one["user_id"])}
        return {key: value for key, value in one.items() if key != "user_id"} | named

    @property
    def changes(self):
        return [asked for asked in self.asked if not asked.startswith("GET")]


class Handler(BaseHTTPRequestHandler):
    course: Course

    def log_message(self, *_):
        pass

    def answer(self, status, content=None, **headers):
        body = json.dumps(content).encode() if content is not None else b""
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": len(body), **headers}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    @property
    def base(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def handle_it(self):
        course, url = self.course, urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        course.asked.append(f"{self.command} {url.path}")
        if url.path == "/inst-fs/upload":
            return self.take_file(body)
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self.answer(401, {"errors": [{"message": "Invalid access token."}]})
        if course.slow_down:
            course.slow_down -= 1
            if course.slow_down % 2:
                return self.answer(429)
            return self.answer(403, "403 Forbidden (Rate Limit Exceeded)")
        root, rest = "/api/v1/courses/1/assignments/4711", None
        if url.path.startswith("/api/v1/s3_success/"):
            return self.confirm(url.path.rpartition("/")[2])
        if url.path.startswith(root):
            rest = url.path.removeprefix(root).strip("/").split("/")
        match (self.command, rest):
            case ("GET", [""]):
                return self.answer(200, {"id": 4711, "name": "Unit 02", "points_possible": course.points_possible})
            case ("GET", ["submissions"]):
                return self.page(parse_qs(url.query))
            case ("POST", ["submissions", user, "comments", "files"]):
                return self.begin(user, {key: value[0] for key, value in parse_qs(body.decode()).items()})
            case ("PUT", ["submissions", user]) if not course.is_anonymous:
                return self.change(int(user), parse_qs(body.decode()))
            case ("PUT", ["anonymous_submissions", named]):
                users = {course.anonymous(user): user for user in course.submissions}
                return self.change(users.get(named), parse_qs(body.decode()))
        return self.answer(404, {"errors": [{"message": "The specified resource does not exist."}]})

    do_GET = do_POST = do_PUT = handle_it

    def page(self, query):
        """Ten to a page if nothing is said, and never more than the server likes; the next one by a bookmark."""
        course = self.course
        if "page" in query:
            start, include = course.pages.pop(query["page"][0])
        else:
            start, include = 0, query.get("include[]", [])
        end = start + min(course.page_size, int(query.get("per_page", ["10"])[0]))
        found = [course.shown(one) for one in course.submissions.values()]
        headers = {}
        if end < len(found):
            bookmark = f"bookmark:{secrets.token_hex(4)}"
            course.pages[bookmark] = end, include
            address = f"{self.base}/api/v1/courses/1/assignments/4711/submissions?page={bookmark}&per_page=100"
            headers["Link"] = f'<{self.base}/x>; rel="current",<{address}>; rel="next"'
        shown = found[start:end]
        if "submission_comments" not in include:
            shown = [{key: value for key, value in one.items() if key != "submission_comments"} for one in shown]
        self.answer(200, shown, **headers)

    def begin(self, user, told):
        if not {"name", "size"} <= told.keys():
            return self.answer(400, {"errors": "name and size"})
        key = secrets.token_hex(4)
        parameters = {"key": key, "Policy": "opaque", "Content-Type": told.get("content_type", "")}
        self.course.uploads[key] = {**told, "user": int(user), "parameters": parameters}
        return self.answer(
            200, {"upload_url": f"{self.base}/inst-fs/upload", "upload_params": parameters, "file_param": "file"}
        )

    def take_file(self, body):
        if self.headers.get("Authorization"):
            return self.answer(400, {"errors": "The access token is not sent with this request."})
        message = BytesParser().parsebytes(
            b"Content-Type: " + self.headers["Content-Type"].encode() + b"\r\n\r\n" + body
        )
        parts = [(part.get_param("name", header="content-disposition"), part.get_payload(decode=True))
                 for part in message.get_payload()]  # fmt: skip
        names, fields = [name for name, _ in parts], dict(parts)
        upload = self.course.uploads.get(fields.get("key", b"").decode())
        right = upload and {n: v.decode() for n, v in parts[:-1]} == upload["parameters"] and names[-1] == "file"
        if not right or len(fields["file"]) != int(upload["size"]):
            return self.answer(403, {"errors": "The request is signed."})
        upload["data"] = fields["file"]
        location = {"Location": f"{self.base}/api/v1/s3_success/{fields['key'].decode()}"}
        return self.answer(303 if self.course.redirects else 201, {"id": 0}, **location)

    def confirm(self, key):
        upload = self.course.uploads.get(key, {})
        if "data" not in upload:
            return self.answer(404, {})
        number = 100 + len(self.course.files)
        self.course.files[number] = upload
        return self.answer(200, {"id": number, "display_name": upload["name"], "size": int(upload["size"])})

    def change(self, user, given):
        one = self.course.submissions.get(user)
        if one is None:
            return self.answer(404, {})
        if status := given.get("submission[late_policy_status]"):
            one["late_policy_status"] = status[0]
        if grade := given.get("submission[posted_grade]"):
            late = one["late"] and one["late_policy_status"] != "none"
            one["score"] = float(grade[0]) - (self.course.deducts if late else 0)
        files = [self.course.files.get(int(number)) for number in given.get("comment[file_ids][]", [])]
        if any(file is None or file["user"] != user for file in files):
            return self.answer(400, {"errors": "a file that is none of this comment's"})
        if text := given.get("comment[text_comment]"):
            attachments = [{"display_name": file["name"], "data": file["data"]} for file in files]
            shown = [{"display_name": file["display_name"]} for file in attachments]
            one["submission_comments"].append({"comment": text[0], "attachments": shown})
        return self.answer(200, self.course.shown(one))


@contextmanager
def serving(course):
    """The server's address."""
    handler = type("Of", (Handler,), {"course": course})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = False
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
