"""GitHub on the loopback: the REST paths buildloop uses, with real pagination, errors and limits, and git over http."""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "ghp_" + "Q" * 36
REPO = "ada/shop"


@dataclass
class Hub:
    """What GitHub knows, and what was asked of it. `troubles` are answers given instead, first come first served."""

    url: str = ""
    bare: Path | None = None
    default_branch: str = "main"
    issues: dict[int, dict[str, Any]] = field(default_factory=dict)
    comments: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    pulls: list[dict[str, Any]] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    credentials: set[str] = field(default_factory=set)
    troubles: list[tuple[str, str, int, dict[str, str], bool]] = field(default_factory=list)
    next_id: int = 1000

    def add_issue(self, number: int, title: str, body: str | None, *comments: tuple[str, str]) -> None:
        self.issues[number] = {"number": number, "title": title, "body": body, "state": "open"}
        self.comments[number] = []
        for author, text in comments:
            self.add_comment(number, text, author)

    def add_comment(self, number: int, text: str, author: str = "buildloop-bot") -> dict[str, Any]:
        self.next_id += 1
        made = {
            "id": self.next_id,
            "body": text,
            "user": {"login": author, "id": 1, "type": "User"},
            "author_association": "OWNER" if author == "ada" else "NONE",
            "html_url": f"{self.url}/{REPO}/issues/{number}#issuecomment-{self.next_id}",
            "url": f"{self.url}/repos/{REPO}/issues/comments/{self.next_id}",
        }
        self.comments[number].append(made)
        return made

    def trouble(
        self,
        method: str,
        path: str,
        status: int,
        *,
        headers: dict[str, str] | None = None,
        done: bool = False,
    ) -> None:
        """Answer the next matching request with `status`; `done` means that it took effect nevertheless."""
        self.troubles.append((method, path, status, headers or {}, done))

    def said(self, method: str, path: str) -> int:
        return sum(1 for one in self.asked if one[0] == method and re.fullmatch(path, one[1]))


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._handle("GET")

    def do_POST(self) -> None:
        self._handle("POST")

    def do_PATCH(self) -> None:
        self._handle("PATCH")

    def _handle(self, method: str) -> None:
        parts = urlsplit(self.path)
        self.hub.credentials.add(self.headers.get("Authorization", ""))
        self.hub.asked.append((method, parts.path))
        if ".git/" in parts.path:
            self._git(method, parts.path, parts.query)
            return
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        given = json.loads(body) if body else {}
        trouble = next(
            (t for t in self.hub.troubles if t[0] == method and re.fullmatch(t[1], parts.path)), None
        )
        if trouble is not None:
            self.hub.troubles.remove(trouble)
            if trouble[4]:
                self._answer(method, parts.path, given)
            self._reply(trouble[2], {"message": _MESSAGES.get(trouble[2], "broken")}, trouble[3])
            return
        if self.headers.get("Authorization") not in (f"token {TOKEN}", f"Bearer {TOKEN}", None):
            self._reply(401, {"message": "Bad credentials"})
            return
        status, answer = self._answer(method, parts.path, given)
        self._reply(status, *self._page(answer, parts))

    def _answer(self, method: str, path: str, given: dict[str, Any]) -> tuple[int, Any]:
        hub = self.hub
        if found := re.fullmatch(rf"/repos/{REPO}", path):
            address = f"{hub.url}/{REPO}.git"
            return 200, {
                "full_name": REPO,
                "name": "shop",
                "clone_url": address,
                "default_branch": hub.default_branch,
            }
        if found := re.fullmatch(rf"/repos/{REPO}/branches/(.+)", path):
            known = hub.bare and (hub.bare / "refs/heads" / found[1]).exists()
            return (200, {"name": found[1]}) if known else (404, {"message": "Branch not found"})
        if found := re.fullmatch(rf"/repos/{REPO}/issues/comments/(\d+)", path):
            every = [one for many in hub.comments.values() for one in many if one["id"] == int(found[1])]
            if not every:
                return 404, {"message": "Not Found"}
            if method == "PATCH":
                every[0]["body"] = given["body"]
            return 200, every[0]
        if re.fullmatch(rf"/repos/{REPO}/issues", path):
            place = f"{hub.url}/repos/{REPO}/issues"
            asked = {
                word
                for words in parse_qs(urlsplit(self.path).query).get("labels", ())
                for word in words.split(",")
            }
            listed = {
                number: issue
                for number, issue in hub.issues.items()
                if asked <= set(issue.get("labels", asked)) and issue["state"] == "open"
            }
            return 200, [{**issue, "url": f"{place}/{number}"} for number, issue in listed.items()]
        if found := re.fullmatch(rf"/repos/{REPO}/issues/(\d+)(/comments)?", path):
            number = int(found[1])
            if number not in hub.issues:
                return 404, {"message": "Not Found"}
            if not found[2]:
                return 200, {**hub.issues[number], "url": f"{hub.url}/repos/{REPO}/issues/{number}"}
            if method == "POST":
                if len(given["body"]) > 65_536:
                    return 422, {"message": "Validation Failed", "errors": [{"message": "body is too long"}]}
                return 201, hub.add_comment(number, given["body"])
            return 200, hub.comments[number]
        if re.fullmatch(rf"/repos/{REPO}/pulls", path):
            return self._pulls(method, given)
        if found := re.fullmatch(rf"/repos/{REPO}/pulls/(\d+)", path):
            pull = next(one for one in hub.pulls if one["number"] == int(found[1]))
            if method == "PATCH":
                pull.update(given)
            return 200, pull
        return 404, {"message": "Not Found"}

    def _pulls(self, method: str, given: dict[str, Any]) -> tuple[int, Any]:
        hub = self.hub
        if method == "GET":
            query = parse_qs(urlsplit(self.path).query)
            head = query.get("head", [""])[0].partition(":")[2]
            states = ("open", "closed") if query.get("state") == ["all"] else ("open",)
            return 200, [one for one in hub.pulls if one["head"]["ref"] == head and one["state"] in states]
        if any(one["head"]["ref"] == given["head"] and one["state"] == "open" for one in hub.pulls):
            return 422, {
                "message": "Validation Failed",
                "errors": [{"message": "A pull request already exists"}],
            }
        number = 100 + len(hub.pulls)
        pull = {
            "number": number,
            "state": "open",
            "title": given["title"],
            "body": given["body"],
            "base": {"ref": given["base"]},
            "head": {"ref": given["head"]},
            "url": f"{hub.url}/repos/{REPO}/pulls/{number}",
            "html_url": f"{hub.url}/{REPO}/pull/{number}",
        }
        hub.pulls.append(pull)
        return 201, pull

    def _page(self, answer: object, parts: Any) -> tuple[object, dict[str, str]]:
        """Lists come in pages with a Link header, as GitHub sends them."""
        if not isinstance(answer, list):
            return answer, {}
        query = parse_qs(parts.query)
        size, page = int(query.get("per_page", ["30"])[0]), int(query.get("page", ["1"])[0])
        rest = answer[page * size :]
        address = f"{self.hub.url}{parts.path}?per_page={size}&page={page + 1}"
        return answer[(page - 1) * size : page * size], {"Link": f'<{address}>; rel="next"'} if rest else {}

    def _reply(self, status: int, answer: object, headers: dict[str, str] | None = None) -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _git(self, method: str, path: str, query: str) -> None:
        """The real git server as a CGI program; only a push with a credential is let in."""
        assert self.hub.bare is not None
        if not self.headers.get("Authorization", "").startswith("Basic "):
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        inside = path.partition(".git/")[2]
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        environment = {
            **os.environ,
            "GIT_PROJECT_ROOT": str(self.hub.bare),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": f"/{inside}",
            "QUERY_STRING": query,
            "REQUEST_METHOD": method,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "REMOTE_USER": "ada",
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        ran = subprocess.run(
            ["git", "http-backend"], input=body, env=environment, capture_output=True, check=True
        )
        head, _, answer = ran.stdout.partition(b"\r\n\r\n")
        lines = [line.partition(": ") for line in head.decode().split("\r\n")]
        status = next((int(value.split()[0]) for name, _, value in lines if name == "Status"), 200)
        self.send_response(status)
        for name, _, value in lines:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


_MESSAGES = {401: "Bad credentials", 403: "API rate limit exceeded for user", 404: "Not Found"}


@contextmanager
def github_server() -> Iterator[Hub]:
    hub = Hub()
    handler = type("Handler", (_Handler,), {"hub": hub})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    hub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
