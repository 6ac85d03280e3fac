"""What an error line is about, by the words that tools and runtimes use for it."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache

from buildloop.patterns import Regex


class Kind(StrEnum):
    """Finer than either taxonomy; both are read off it."""

    ASSERTION = "assertion"
    TIMEOUT = "timeout"
    NETWORK = "network"
    MEMORY = "memory"
    RESOURCE = "resource"
    VERSION = "version"
    SYNTAX = "syntax"
    MISSING = "missing"
    COMMAND = "command"
    FILE = "file"
    UNDEFINED = "undefined"
    TYPE = "type"
    RACE = "race"
    NO_TESTS = "no tests"
    AGENT = "agent"
    OTHER = "other"


# Alternatives of one regular expression a kind, most telling kind first.
WORDS: dict[Kind, tuple[str, ...]] = {
    Kind.ASSERTION: (
        r"(?<![\w/-])assert(?:ion)?(?:error|failed|failure)?(?![\w/-])|comparisonfailure",
        r"expectationnotmet",
        r"""\bexpect(?:ed)?\b(?! ['\"`‘]?[;,(){}\[\]:=>]+['\"`’]?).*\b(?:got|but|received|actual)\b""",
        r"\bexpected\b.*\bto (?:be|equal|eq|have|match|deep|deeply|include|contain|throw|strictly)\b",
        r"\bexpect\(|did not (?:raise|warn|throw)|failed asserting|\bwant(?:ed)?:? \S|XCTAssert",
        r"did not equal",
        r"should (?:be|equal|have)\b.*\bbut\b",
    ),
    Kind.TIMEOUT: (
        r"\btimed? ?out\b|timeouterror|timeout(?:exception)? (?:of|after|exceeded|expired)",
        r"exceeded timeout|deadline exceeded|\bETIMEDOUT\b|took longer than|deadlock",
        r"exceeded the maximum execution time|\bTimeout >",
    ),
    Kind.NETWORK: (
        r"\bECONNREFUSED\b|\bECONNRESET\b|\bEADDRINUSE\b|\bENOTFOUND\b|\bEHOSTUNREACH\b|\bEAI_AGAIN\b",
        r"\bENETUNREACH\b|\bEPIPE\b|connection ?(?:refused|reset|aborted|error|timed out)",
        r"connect(?:ion)? .*refused|address already in use|addrinuse|could not resolve host",
        r"name or service not known|name resolution|temporary failure",
        r"network (?:is unreachable|error|was disabled)|socket hang up|getaddrinfo",
        r"ssl(?:error|_ERROR| certificate)|certificate verify|no route to host|broken pipe",
        r"\bHTTP (?:50\d|429)|no such host|UnknownHost|SocketException|ConnectException|nameresolution",
    ),
    Kind.MEMORY: (
        r"out ?of ?memory|memoryerror|heap (?:space|limit)|allowed memory size|cannot allocate memory",
        r"\boom\b|oomkilled|bad_alloc|stack ?overflow|overflowed its stack",
        r"maximum (?:call stack|recursion)|recursionerror|stack level too deep|segmentation fault",
        r"segfault|SIGSEGV|sigabrt|AddressSanitizer|LeakSanitizer|MemorySanitizer|heap-(?:buffer|use)",
        r"double free|buffer overflow|\bKilled\b|invalid (?:read|write) of size|core dumped|bus error",
        r"nil pointer dereference",
    ),
    Kind.RESOURCE: (
        r"no space left|disk quota|\bENOSPC\b|\bEMFILE\b|too many open files|quota exceeded|rate limit",
        r"resource temporarily|token limit|context (?:window|length)|too long|too large \(max",
        r"resource exhausted|argument list too long",
    ),
    Kind.VERSION: (
        r"is not in the allowed range",
        r"(?:or higher|or newer|or later) is required",
        r"requires (?:a different )?(?:python|node|rustc|php|ruby|go) ?[<>=^~\d]|unsupported engine",
        r"\bEBADENGINE\b|not compatible with your version|is not supported by the following packages",
        r"your ruby version is|requires (?:php|ext-)|go\.mod requires go",
        r"incompatible with the project's Python requirement|\w+\.\w*ImportError",
        r"has been (?:moved to|removed in|renamed)|could not find a package configuration file",
        r"could not find a configuration file for package|invalid (?:source|target) release",
        r"unsupported class file (?:major )?version|release version \d+ not supported|GLIBC(?:XX)?_\d",
        r"toolchain .* is not installed",
    ),
    Kind.SYNTAX: (
        r"expected (?:primary-expression|unqualified-id|identifier|expression|declaration|statement)\b",
        r"expected .{1,40} (?:before|at end of input)",
        r"syntax ?error|parse ?error|parsing error|indentationerror|taberror",
        r"unexpected (?:token|end of|eof|identifier|indent|string|character|keyword|symbol|\$end|tok|T_)",
        r"unterminated|unclosed|invalid syntax|parse failed|failed to parse",
        r"""expected ['\"`‘]?[;,(){}\[\]:=>]+['\"`’]?|(?:^|\s)['\"`‘]?[;,(){}\[\]]+['\"`’]? expected""",
        r"expecting\b|missing ending|\bEJSONPARSE\b|json(?:parse|decode)error|mismatched input",
        r"premature end|not well-formed|unbalanced|invalid-syntax|TS1\d{3}\b|illegal start of",
        r"reached end of file while parsing|missing separator|class, interface,? (?:enum)?.* expected",
    ),
    Kind.MISSING: (
        r"binary is missing",
        r"non-resolvable (?:parent|import) pom|cannot access \w+ \(https?:|missing go\.sum entry",
        r"could not find \w+ \(missing",
        r"""could not resolve ["']""",
        r"modulenotfounderror|could not resolve (?:all |dependencies)",
        r"could not (?:find|resolve) [\w.-]+:[\w.-]+:|no module named",
        r"cannot find (?:module|package|crate)|module not found|can't resolve|cannot resolve",
        r"unresolved import|cannot load such file",
        r"could(?:n't| not) (?:find|resolve) (?:module|package|a package|gem|artifact)",
        r"package .* does not exist|is not in (?:GOROOT|std)|no required module|classnotfound",
        r"noclassdeffound|can't locate \S+ in @INC|failed to (?:load url|resolve import|resolve module)",
        r"cannot find (?:implementation or library stub|type definition)|fatal error: \S+: no such file",
        r"file not found for module|unable to find library|cannot find -l|library not (?:found|loaded)",
        r"shared librar|shared object|class .* not found|could not find .* in any of the sources",
        r"executable doesn't exist|need to install|(?:is|are) not installed|Could not find .*load",
    ),
    Kind.COMMAND: (
        r"\w+ executable not found",
        r"command not found|: not found$|executable file not found|is not recognized as an internal",
        r"make: \S+: no such file|env: .*no such file|commandnotfound",
    ),
    Kind.FILE: (
        r"failed opening required",
        r"no such file|\bENOENT\b|\bEACCES\b|\bEPERM\b|\bEISDIR\b|\bENOTDIR\b|\bEEXIST\b",
        r"permission denied|filenotfound|file not found|cannot (?:open|read|access|stat) ",
        r"(?:file|path|directory|folder)\b.*does not exist|nosuchfile|could not (?:read|open)",
        r"not a directory|is a directory|file or directory not found|cannot find source file",
        r"access is denied",
    ),
    Kind.UNDEFINED: (
        r"cannot find '.*' in scope|unbound value",
        r"is not defined|fixture '.*' not found|does not exist in the (?:current context|namespace)",
        r"type or namespace name",
        r"undefined (?:name|variable|reference|method|local variable|symbol|function|identifier|property)",
        r"undefined (?:constant|index)",
        r"nameerror|referenceerror|nomethoderror|attributeerror",
        r"has no (?:attribute|member|property|field|method)|no attribute",
        r"cannot find (?:symbol|name|function|value|type|trait|macro|method|derive|attribute)",
        r"is not a function|not callable|does not exist on type|no-undef|unresolved reference",
        r"not found in (?:this )?scope|was not declared|undeclared|implicit declaration|no member named",
        r"no method|call to undefined|cannot import name|unknown (?:identifier|field|variable)",
        r"use of undeclared|undefined:|keyerror|no such (?:method|property|function)|unbound variable",
        r"requires explicit package name|undefined subroutine|is undefined|F821|E1101|E0602|TS2304",
        r"TS2339|TS2551|no field|value \S+ is not a member|does not contain a definition",
        r"no exported member|no matching function|unknown type name",
    ),
    Kind.TYPE: (
        r"E0277|E0369|cannot be made by|trait bound .* not satisfied",
        r"type ?error|incompatible types?|type mismatch|mismatched types|is not assignable",
        r"cannot (?:use|convert|be converted|be applied|assign)|expected type|argument of type",
        r"argumenterror|wrong number of arguments|nullpointer|classcast|cannot read propert",
        r"of (?:null|undefined)\b|unsupported operand|must be of type|conversion (?:from|of)",
        r"invalid (?:operands|conversion)|undefined method .* for nil|for nil\b|has type|not a subtype",
        r"\[(?:arg-type|assignment|return-value|call-arg|operator|union-attr|call-overload|index|misc|type-var)\]",
        r"null reference|on an undefined value|TS2322|TS2345|E0308|unhashable|takes \d+ positional",
        r"no overload|required positional|got an unexpected keyword|valueerror|numberformat",
        r"illegalargument|cannot invoke",
    ),
}


@cache
def _pattern(kind: Kind) -> Regex:
    """Compiled when first asked for: start-up must not pay for kinds that no log mentions."""
    return Regex("|".join(WORDS[kind]), re.IGNORECASE)


def kind_of_text(text: str, among: frozenset[Kind] | None = None) -> Kind | None:
    """The first kind whose words are in `text`; `among` restricts the question."""
    shown = text[:2000]
    return next((k for k in WORDS if (among is None or k in among) and _pattern(k).search(shown)), None)
