"""What shells, the kernel, the loader and `timeout` say."""

from __future__ import annotations

from dataclasses import replace

from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport
from buildloop.gate.parsers.said import read_sentences, sentences
from buildloop.patterns import Regex

SCRIPT = r"(?:(?P<file>[\w./~-]+): (?:line )?(?P<line>\d+): |[\w./-]+: )?"
TABLE = sentences(
    (
        "program",
        "Assertion",
        r"(?:\S+: )?(?P<file>\S+\.\w+):(?P<line>\d+): .*?: (?P<message>Assertion .* failed\.?)$",
    ),
    (
        "program",
        "Uncaught",
        r"(?P<message>terminate called after throwing an instance of '(?P<type>[^']+)')",
        Rank.CAUSE,
        1,
    ),
    ("program", "Signal", r"\*\*\* (?P<message>(?:stack smashing|buffer overflow) detected.*)"),
    (
        "shell",
        "CommandNotFound",
        r"(?P<message>.*: The term '[^']+' is not recognized as (?:the|a) name.*)",
    ),
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
        SCRIPT + r"(?P<message>(?:[sS]yntax error|unexpected EOF while looking|conditional binary operator"
        r"|bad substitution|.*: bad substitution|Bad substitution).*)",
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
        r"(?:Error: |ERROR: |##\[error\])?(?P<message>(?:The (?:job|operation|action"
        r"|hosted runner)\b.*(?:exceeded the maximum|has timed out|was cancell?ed)"
        r"|Job failed: execution took longer|The job exceeded the maximum"
        r"|No output has been received in the last|Too long with no output|Step .* timed out"
        r"|Build timed out|Build step .* timed out|context deadline exceeded).*)",
    ),
    (
        "shell",
        "Timeout",
        r"(?P<message>(?:[\w./-]+: )?(?:\S+ )?(?:Command|command|Process|process|Test|test|Timeout"
        r"|timeout)\b.{0,80}?\btimed out\b.*)",
        Rank.HINT,
    ),
    (
        "kernel",
        "OutOfMemory",
        r".*(?P<message>(?:Out of memory: Kill|oom-kill:|Memory cgroup out of memory|OOMKilled"
        r"|invoked oom-killer).*)",
    ),
    (
        "shell",
        "OutOfMemory",
        r"(?:[\w./-]+: )*(?P<message>(?:.*: )?(?:Cannot allocate memory|cannot allocate memory"
        r"|virtual memory exhausted|fatal error: out of memory|Killed signal terminated program"
        r"|std::bad_alloc).*)",
    ),
    ("shell", "Killed", SCRIPT + r"\s*(?:\d+ )?(?P<message>Killed(?:\s+\S.*)?)$"),
    (
        "shell",
        "Signal",
        SCRIPT + r"\s*(?:\d+ )?(?P<message>(?:Segmentation fault|Aborted|Bus error|Illegal instruction"
        r"|Floating point exception|Trace/breakpoint trap)(?: *\(core dumped\))?(?:\s+\S.*)?)$",
    ),
    ("shell", "Terminated", r"(?P<message>(?:\S+: line \d+: +\d+ )?Terminated(?:\s+\S.*)?)$", Rank.HINT),
    (
        "shell",
        "DiskFull",
        r"(?P<message>.*(?:No space left on device|Disk quota exceeded|not enough (?:free )?disk space"
        r"|ENOSPC).*)",
    ),
    (
        "loader",
        "SharedLibrary",
        r"(?P<message>.*(?:error while loading shared libraries|cannot open shared object file"
        r"|version `\w+[\d.]+' not found|Library not loaded:|dyld\[?\d*\]?: ).*)",
    ),
    (
        "loader",
        "ExecFormat",
        SCRIPT + r"(?P<message>.*(?:cannot execute binary file|Exec format error"
        r"|cannot execute: required file not found).*)",
    ),
    ("shell", "Permission", SCRIPT + r"(?P<message>[^\s:]\S*: Permission denied)$"),
    (
        "shell",
        "FileNotFound",
        SCRIPT + r"(?P<message>(?:cd: |\.: |source: |cannot (?:open|stat|access|create"
        r"|remove) )?[^\s:]\S*: (?:No such file or directory|file not found))$",
    ),
    (
        "shell",
        "FileNotFound",
        r"(?P<message>(?:cat|ls|cp|mv|rm|stat|grep|sed|head|tail|tar|find|chmod|chown|python3?|node|bash|sh"
        r"|source|ln|install|diff|make|touch|mkdir|docker|java): .*: No such file or directory)$",
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
        r"(?P<message>There is insufficient memory for the Java Runtime.*"
        r"|#\s+There is insufficient memory.*)",
    ),
    ("java", "Signal", r"#\s+(?P<message>(?:SIGSEGV|SIGBUS|A fatal error has been detected by the Java).*)"),
    (
        "shell",
        "Limit",
        SCRIPT
        + r"(?P<message>.*(?:Too many open files|Argument list too long|fork: retry: Resource temporarily"
        r"|fork: Cannot allocate).*)",
    ),
)


# `bash: line 1:` is a command line, not a file of the project.
INTERPRETER = Regex(r"(?:/\S*/)?(?:bash|sh|dash|zsh|ksh|env)$")


def parse(lines: Lines) -> ToolReport:
    report = read_sentences(lines, TABLE)
    return ToolReport(tuple(_placed(sighting) for sighting in report.sightings))


def _placed(sighting: Sighting) -> Sighting:
    finding = sighting.finding
    if not finding.file or not INTERPRETER.match(finding.file):
        return sighting
    return replace(sighting, finding=replace(finding, file=None, line=None))
