"""Actions of a script as calls of the tools that a request offers.

{"run": "command"}   {"read": "path"}   {"write": ["path", "text"]}   {"edit": ["path", "old", "new"]}
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from tests.support.model.request import Request

Call = dict[str, Any]
SHELLS = ("Bash", "bash", "exec_command", "shell_command", "run_shell_command", "shell")


def tool_call(action: dict[str, Any], request: Request) -> Call:
    ((kind, given),) = action.items()
    if kind == "run":
        return _run(given, request)
    if kind == "read":
        name = _first(request, "Read", "read", "read_file")
        return _with_path(name, given, request) if name else _run(f"cat {shlex.quote(given)}", request)
    if "apply_patch" in request.tools:
        return _patch(kind, given, request)
    if kind == "write":
        name = _first(request, "Write", "write", "write_file")
        return _with_path(name, given[0], request, content=given[1]) if name else _by_shell(given, request)
    return _edit(given, request)


def search_replace(action: dict[str, Any]) -> str:
    """The same for an agent without tools: blocks in the text."""
    ((kind, given),) = action.items()
    if kind not in ("edit", "write"):
        return ""
    path, old, new = (given[0], "", given[1]) if kind == "write" else given
    body = f"<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE"
    return f"{path}\n```\n{body}\n```\n"


def _run(command: str, request: Request) -> Call:
    name = _first(request, *SHELLS) or "bash"
    known = _properties(request, name)
    given: dict[str, Any] = {"cmd": command} if name == "exec_command" else {"command": command}
    if name == "shell":
        given = {"command": ["bash", "-c", command]}
    given |= {"description": "scripted"} if "description" in known else {}
    given |= {"yield_time_ms": 30_000} if "yield_time_ms" in known else {}
    return {"name": name, "input": given}


def _edit(given: list[str], request: Request) -> Call:
    path, old, new = given
    name = _first(request, "Edit", "edit", "replace")
    if name is None:
        code = "import sys; p, o, n = sys.argv[1:]; t = open(p).read(); open(p, 'w').write(t.replace(o, n))"
        return _run(shlex.join(["python3", "-c", code, path, old, new]), request)
    known = _properties(request, name)
    words = (
        {"oldString": old, "newString": new}
        if "oldString" in known
        else {"old_string": old, "new_string": new}
    )
    words |= {"instruction": "scripted"} if "instruction" in known else {}
    return _with_path(name, path, request, **words)


def _patch(kind: str, given: list[str], request: Request) -> Call:
    if kind == "write":
        lines = [f"*** Add File: {given[0]}", *("+" + line for line in given[1].splitlines())]
    else:
        changed = ["-" + line for line in given[1].splitlines()] + [
            "+" + line for line in given[2].splitlines()
        ]
        lines = [f"*** Update File: {given[0]}", "@@", *changed]
    patch = "\n".join(["*** Begin Patch", *lines, "*** End Patch"])
    if request.tools["apply_patch"].get("type") == "custom":
        return {"name": "apply_patch", "raw": patch}
    return {"name": "apply_patch", "input": {next(iter(_properties(request, "apply_patch")), "input"): patch}}


def _by_shell(given: list[str], request: Request) -> Call:
    return _run(f"printf %s {shlex.quote(given[1])} > {shlex.quote(given[0])}", request)


def _with_path(name: str, path: str, request: Request, **more: str) -> Call:
    known = _properties(request, name)
    key = next(
        (one for one in ("file_path", "filePath", "absolute_path", "path") if one in known), "file_path"
    )
    return {"name": name, "input": {key: str(Path(request.folder or "") / path), **more}}


def _properties(request: Request, name: str) -> dict[str, Any]:
    tool = request.tools.get(name, {})
    schema = tool.get("input_schema") or tool.get("parameters") or tool.get("parametersJsonSchema") or {}
    return schema.get("properties") or {}


def _first(request: Request, *names: str) -> str | None:
    return next((name for name in names if name in request.tools), None)
