"""pnpm, yarn and bun."""

from __future__ import annotations

from buildloop.gate.parsers.report import Lines, Rank, ToolReport
from buildloop.gate.parsers.said import read_sentences, sentences

TABLE = sentences(
    ("pnpm", "run", r"\s*(?:\[?ELIFECYCLE|ERR_PNPM_RECURSIVE_(?:RUN|EXEC))", Rank.CASCADE),
    ("pnpm", "install", r"\s*(?:.\s)?(?P<type>ERR_PNPM_\w+)\s+(?P<message>.*)", Rank.CAUSE, 6),
    (
        "pnpm",
        "install",
        r"\s*(?P<type>ERROR)\s{1,2}(?P<message>(?:Your lockfile|Unsupported|This project|packages?:).*)",
        Rank.CAUSE,
        3,
    ),
    ("yarn", "run", r"error Command (?:\".*\" )?failed with (?:exit code|signal).*", Rank.CASCADE),
    ("yarn", "run", r"error Command \"(?P<message>.*)\" not found"),
    (
        "yarn",
        "install",
        r"error (?P<message>(?:Couldn't find|Your lockfile|An unexpected error|Incorrect integrity"
        r"|\S+@\S+: The engine|Found incompatible|Error: |Received malformed|Lockfile|https?:).*)",
        Rank.CAUSE,
        3,
    ),
    (
        "yarn",
        "install",
        r"➤ (?P<type>YN(?:0001|0009|0010|0016|0018|0027|0028|0035|0041|0056|0080|0081|0082"
        r"|0090)): (?P<message>.*)",
    ),
    ("yarn", "run", r"➤ YN0000: .*Failed with errors", Rank.CASCADE),
    ("yarn", "install", r"Usage Error: (?P<message>.*)|Internal Error: (?P<message2>.*)"),
    (
        "bun install",
        "install",
        r"error: (?P<message>.*(?:failed to resolve|lockfile had changes|No version matching"
        r"|not found in registry|ConnectionRefused downloading).*)",
    ),
    ("bun install", "run", r"error: script \".*\" exited with code \d+", Rank.CASCADE),
    ("bun install", "run", r"error: (?P<message>Script not found .*)"),
)


def parse(lines: Lines) -> ToolReport:
    return read_sentences(lines, TABLE)
