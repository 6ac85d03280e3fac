"""What a test needs to know of one request, whatever the provider's dialect."""

from __future__ import annotations

import json
import re
from typing import Any

WHERE = (
    r"<cwd>\s*([^<\n]+?)\s*</cwd>",
    r"[Pp]rimary working directory:\s*(\S[^\n]*)",
    r"[Ww]orking [Dd]irectory:\s*(/[^\n]*)",
    r"current working directory(?: is)?:?\s*(/[^\s`'\"]+)",
    r"workspace directories?[^\n]*\n\s*-\s*(/[^\n]+)",
)
# Requests for a title or a summary take no turn of the script.
SUMMARY = re.compile(
    r"detailed summary of the conversation|CONTEXT CHECKPOINT COMPACTION|summarization agent"
)


class Request:
    def __init__(self, dialect: str, path: str, body: dict[str, Any]) -> None:
        self.dialect, self.body = dialect, body
        self.text = json.dumps(body, ensure_ascii=False)
        self.tools = _tools(dialect, body)
        self.model = str(body.get("model") or (re.findall(r"/models/([^:/]+):", path) or [""])[0])
        self.streams = bool(body.get("stream")) or ":streamGenerateContent" in path

    @property
    def is_side(self) -> bool:
        if self.body.get("max_tokens") == 1 or SUMMARY.search(self.text):
            return True
        return not self.tools and "SEARCH/REPLACE" not in self.text

    @property
    def folder(self) -> str | None:
        """The working directory, as the CLI told it to the model."""
        said = self.text.replace("\\n", "\n").replace('\\"', '"')
        found = next((match for pattern in WHERE if (match := re.search(pattern, said))), None)
        return found[1].strip().rstrip("`'\".,") if found else None


def _tools(dialect: str, body: dict[str, Any]) -> dict[str, Any]:
    offered = body.get("tools") or []
    if dialect == "gemini":
        listed = [one for group in offered for one in group.get("functionDeclarations") or []]
    elif dialect == "chat":
        listed = [one.get("function") or one for one in offered]
    else:
        listed = [inner for one in offered for inner in (one.get("tools") or [one])]
    return {str(one.get("name") or one.get("type")): one for one in listed}
