"""Whose the missing thing is: the project's own (a code error) or somebody else's (a dependency)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from buildloop.diagnosis import known_packages as known
from buildloop.diagnosis.model import Signal
from buildloop.gate.parsers.frames import is_foreign
from buildloop.patterns import Regex

SOURCE = (
    "py|pyi|[cm]?jsx?|[cm]?tsx?|vue|svelte|go|rs|rb|java|kts?|scala|groovy|cs|fs|swift|dart|php|p[lm]|t|lua"
    "|hs|exs?|[ch](?:pp|c|xx|h)?|sh|bats|r|R|jl"
)
# Looked for only from its beginning: from every character on, long lines would take quadratic time.
PATH = Regex(
    r"(?<![\w.@+-])(?:(?P<root>(?:[A-Za-z]:)?[/\\])|(?<![\w.@+-][/\\]))"
    rf"(?P<inner>[\w.@+-]+(?:[/\\][\w.@+-]+)*)\.(?:{SOURCE})\b(?!\.\w)"
)
JVM_SOURCE = Regex(r"src/\w+/(?:java|kotlin|scala|groovy)/(?P<package>\w+/\w+)")
DECLARED = (
    Regex(r"^(?:ok|FAIL|---|\?)\s+(?P<name>[\w.-]+/[\w./-]+)(?:\s|$)"),
    Regex(r"^# (?P<name>[\w.-]+\.[a-z]+/[\w./-]+)(?: \[.*\])?$"),
    Regex(r"^\s*Compiling (?P<name>[\w-]+) v\S+ \(/"),
    Regex(r"^error: could not compile `(?P<name>[\w-]+)`"),
    Regex(r"^rootdir: \S*/(?P<name>[\w.-]+)"),
    Regex(r"^\[INFO\] -+< (?P<name>[\w.]+):"),
    Regex(r"^(?:\[\w+\] )?Running (?P<name>\w+\.\w+)\.[\w.]+$"),
    Regex(r"^> (?P<name>@?[\w./-]+)@\d\S* "),
)
NODE_PATH = Regex(r"[./~#]|@/|file:|src/|<rootDir>|virtual:|[A-Za-z]:[/\\]")
SCRIPTS = (".sh", ".bash", ".py", ".pl", ".rb", ".js", ".ts")
# Words joined by underscores are functions of a script, except those of the well-known assertion library.
SHELL_FUNCTION = Regex(r"(?!assert_|refute_)[a-z]{3,}(?:_[a-z]{3,})+")
DEEP_ENOUGH = 3
MAX_LINE = 1_000  # frames are short


def names_in(line: str) -> frozenset[str]:
    """Names of modules of the project that a line shows: parts of its paths, packages it declares."""
    line = line[:MAX_LINE]
    names = {
        found.group("name").replace("-", "_") if "/" not in found.group("name") else found.group("name")
        for pattern in DECLARED
        if (found := pattern.match(line))
    }
    for found in PATH.finditer(line):
        if is_foreign(found.group()):
            continue
        parts = re.split(r"[/\\]", found.group("inner"))
        names.update(
            part
            for part in (parts[-DEEP_ENOUGH:] if found.group("root") else parts)
            if part not in (".", "..")
        )
    if found := JVM_SOURCE.search(line):
        names.add(found.group("package").replace("/", "."))
    return frozenset(names)


def is_own(signal: Signal, own: Collection[str]) -> bool:
    """`own` are names known to be the project's, from the caller, the repository or the log."""
    return RESOLVERS.get(signal.ecosystem, _by_first_name)(signal, own)


def _by_first_name(signal: Signal, own: Collection[str]) -> bool:
    first = re.split(r"[./:\\]", signal.subject)[0]
    return first in own or first.lower() in known.HOUSEHOLD_NAMES


def _python(signal: Signal, own: Collection[str]) -> bool:
    top, dotted, _ = signal.subject.partition(".")
    if top in own:
        return True
    if top in known.PYTHON_STANDARD or top in known.PYTHON_WELL_KNOWN or "-packages/" in signal.line:
        return False
    if "cannot import name" in signal.line:
        return True
    # Python names the first part that is missing: of `a.b` the package `a` was there.
    return bool(dotted) or top in known.HOUSEHOLD_NAMES


def _node(signal: Signal, own: Collection[str]) -> bool:
    subject = signal.subject
    if "node_modules/" in subject:
        return False
    if NODE_PATH.match(subject):
        return signal.local is not False
    first = subject.split("/")[0]
    if subject.startswith("node:") or first in known.NODE_BUILTIN:
        return False
    if subject.startswith("@"):
        return any(name.split("/")[0] == first for name in own if name.startswith("@"))
    return subject in own or ("/" in subject and (first in own or first in known.HOUSEHOLD_NAMES))


def _c(signal: Signal, own: Collection[str]) -> bool:
    first = signal.subject.split("/")[0]
    if first in known.C_WELL_KNOWN:
        return False
    if signal.local is not None:
        return signal.local or ("/" in signal.subject and first in own)
    return first in own


def _rust(signal: Signal, own: Collection[str]) -> bool:
    root = signal.subject.split("::")[0]
    if signal.local is not None and root not in own:
        return signal.local
    return (
        root in ("crate", "self", "super", "std", "core", "alloc", "")
        or root in own
        or not root[:1].islower()
    )


def _go(signal: Signal, own: Collection[str]) -> bool:
    subject = signal.subject
    host = subject.split("/")[0]
    if "/internal/" in subject or subject.startswith("internal/") or host in known.RESERVED_HOSTS:
        return True  # only the module that holds an internal package may import it
    if _go_module(subject) in {_go_module(name) for name in own if "/" in name}:
        return True
    return "." not in host and host not in known.GO_STANDARD


def _go_module(package: str) -> str:
    """Forges hold a module per owner and repository; other hosts usually per first folder."""
    parts = package.split("/")
    return "/".join(parts[: 3 if parts[0] in known.FORGES else 2])


def _jvm(signal: Signal, own: Collection[str]) -> bool:
    parts = re.split(r"[./]", signal.subject)
    if parts[0] in known.JVM_PLATFORM:
        return False
    return len(parts) == 1 or ".".join(parts[:2]) in own or (parts[0] in own and len(parts[0]) > 3)


def _php(signal: Signal, _own: Collection[str]) -> bool:
    # Autoloading fails far more often for a project's own classes than for installed ones.
    return signal.subject.split("\\")[0] not in known.PHP_WELL_KNOWN


def _perl(signal: Signal, own: Collection[str]) -> bool:
    return signal.subject.removesuffix(".pm").split("/")[0] in own


def _elixir(signal: Signal, own: Collection[str]) -> bool:
    first = signal.subject.split(".")[0]
    return first in own or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", first).lower() in own


def _ruby(signal: Signal, own: Collection[str]) -> bool:
    first, nested, _ = signal.subject.partition("/")
    tested = {f"{first}_spec", f"{first}_test", f"test_{first}"} if nested else set()
    return signal.subject.startswith((".", "/")) or not tested.isdisjoint(own) or _by_first_name(signal, own)


def _command(signal: Signal, _own: Collection[str]) -> bool:
    subject = signal.subject
    if signal.local is not None:
        return signal.local
    if subject.startswith("/"):
        return not subject.startswith(("/usr/", "/opt/", "/bin/", "/sbin/"))
    return "/" in subject or subject.endswith(SCRIPTS) or bool(SHELL_FUNCTION.fullmatch(subject))


def _script(signal: Signal, _own: Collection[str]) -> bool:
    """Yarn and pnpm say the same of a script that the project lacks and of a tool that is not installed."""
    return ":" in signal.subject or signal.subject in known.SCRIPT_NAMES


def _dotnet(signal: Signal, _own: Collection[str]) -> bool:
    return signal.subject.split(".")[0].removesuffix("Attribute") not in known.DOTNET_WELL_KNOWN


RESOLVERS: dict[str, Callable[[Signal, Collection[str]], bool]] = {
    "python": _python,
    "node": _node,
    "c": _c,
    "rust": _rust,
    "go": _go,
    "jvm": _jvm,
    "php": _php,
    "perl": _perl,
    "elixir": _elixir,
    "ruby": _ruby,
    "command": _command,
    "script": _script,
    "dotnet": _dotnet,
}
