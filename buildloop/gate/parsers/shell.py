"""What shells, the kernel, the loader and `timeout` say."""

from __future__ import annotations

from buildloop.gate.parsers.report import Lines, Rank, ToolReport
from buildloop.gate.parsers.said import read_sentences, sentences

SCRIPT = r"(?:(?P<file>[\w./~-]+): (?:line )?(?P<line>\d+): |[\w./-]+: )?"
TABLE = sentences(
    ("shell", "CommandNotFound", SCRIPT + r"(?P<message>[\w./@+-]+: (?:command )?not found)$"),
    (
        "shell",
        "CommandNotFound",
        r"(?:zsh|fish)(?::\d+)?: (?P<message>command not found: .*|Unknown command.*)",
    ),
    (
        "shell",
        "CommandNotFound",
        r"(?:/usr/bin/)?env: (?P<message>[‘'\"]?[\w.+-]+[’'\"]?\\?r?[’'\"]?: No such file or directory)",
    ),
    (
        "shell",
        "CommandNotFound",
        r"'?(?P<message>[\w.-]+'? is not recognized as an internal or external command.*)",
    ),
    ("shell", "CommandNotFound", r".*(?P<message>exec: \"[^\"]+\": executable file not found in \$PATH.*)"),
    (
        "shell",
        "SyntaxError",
        SCRIPT
        + r"(?P<message>(?:[sS]yntax error|unexpected EOF while looking|conditional binary operator|bad substitution|.*: bad substitution|Bad substitution).*)",
        Rank.CAUSE,
        0,
    ),
    (
        "shell",
        "UnboundVariable",
        SCRIPT + r"(?P<message>\w+: (?:unbound variable|parameter not set|parameter null or not set))$",
    ),
    ("shell", "Timeout", r"timeout: (?P<message>(?:sending signal|the monitored command).*)"),
    (
        "ci",
        "Timeout",
        r"(?:Error: |ERROR: |##\[error\])?(?P<message>(?:The (?:job|operation|action|hosted runner)\b.*(?:exceeded the maximum|has timed out|was cancell?ed)|Job failed: execution took longer|The job exceeded the maximum|No output has been received in the last|Too long with no output|Step .* timed out|Build timed out|Build step .* timed out|context deadline exceeded).*)",
    ),
    (
        "shell",
        "Timeout",
        r"(?P<message>(?:[\w./-]+: )?(?:\S+ )?(?:Command|command|Process|process|Test|test|Timeout|timeout)\b.{0,80}?\btimed out\b.*)",
        Rank.HINT,
    ),
    (
        "kernel",
        "OutOfMemory",
        r".*(?P<message>(?:Out of memory: Kill|oom-kill:|Memory cgroup out of memory|OOMKilled|invoked oom-killer).*)",
    ),
    (
        "shell",
        "OutOfMemory",
        r"(?:[\w./-]+: )*(?P<message>(?:.*: )?(?:Cannot allocate memory|cannot allocate memory|virtual memory exhausted|fatal error: out of memory|Killed signal terminated program|std::bad_alloc).*)",
    ),
    ("shell", "Killed", SCRIPT + r"\s*(?:\d+ )?(?P<message>Killed(?:\s+\S.*)?)$"),
    (
        "shell",
        "Signal",
        SCRIPT
        + r"\s*(?:\d+ )?(?P<message>(?:Segmentation fault|Aborted|Bus error|Illegal instruction|Floating point exception|Trace/breakpoint trap)(?: *\(core dumped\))?(?:\s+\S.*)?)$",
    ),
    ("shell", "Terminated", r"(?P<message>(?:\S+: line \d+: +\d+ )?Terminated(?:\s+\S.*)?)$", Rank.HINT),
    (
        "shell",
        "DiskFull",
        r"(?P<message>.*(?:No space left on device|Disk quota exceeded|not enough (?:free )?disk space|ENOSPC).*)",
    ),
    (
        "loader",
        "SharedLibrary",
        r"(?P<message>.*(?:error while loading shared libraries|cannot open shared object file|version `\w+[\d.]+' not found|Library not loaded:|dyld\[?\d*\]?: ).*)",
    ),
    (
        "loader",
        "ExecFormat",
        SCRIPT
        + r"(?P<message>.*(?:cannot execute binary file|Exec format error|cannot execute: required file not found).*)",
    ),
    ("shell", "Permission", SCRIPT + r"(?P<message>[^\s:]\S*: Permission denied)$"),
    (
        "shell",
        "FileNotFound",
        SCRIPT
        + r"(?P<message>(?:cd: |cannot (?:open|stat|access|create|remove) )?[^\s:]\S*: No such file or directory)$",
    ),
    (
        "shell",
        "FileNotFound",
        r"(?P<message>(?:cat|ls|cp|mv|rm|stat|grep|sed|head|tail|tar|find|chmod|chown|python3?|node|bash|sh|source|ln|install|diff|make|touch|mkdir|docker|java): .*: No such file or directory)$",
    ),
    ("python", "FileNotFound", r"\S*python[\d.]*: (?P<message>can't open file .*)"),
    ("python", "ModuleNotFoundError", r"\S*python[\d.]*: (?P<message>No module named .*)"),
    (
        "java",
        "ClassNotFound",
        r"Error: (?P<message>(?:Could not find or load main class|Unable to access jarfile|A JNI error).*)",
    ),
    (
        "java",
        "OutOfMemory",
        r"(?P<message>There is insufficient memory for the Java Runtime.*|#\s+There is insufficient memory.*)",
    ),
    ("java", "Signal", r"#\s+(?P<message>(?:SIGSEGV|SIGBUS|A fatal error has been detected by the Java).*)"),
    (
        "shell",
        "Limit",
        SCRIPT
        + r"(?P<message>.*(?:Too many open files|Argument list too long|fork: retry: Resource temporarily|fork: Cannot allocate).*)",
    ),
)


def parse(lines: Lines) -> ToolReport:
    return read_sentences(lines, TABLE)
