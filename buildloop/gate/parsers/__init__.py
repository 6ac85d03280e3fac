"""The parsers, most specific first, and the words without which a log cannot be about their tool."""

from __future__ import annotations

from typing import NamedTuple


class ParserEntry(NamedTuple):
    """A module with `parse(lines) -> ToolReport`, imported only when one of its triggers is in the log."""

    module: str
    triggers: tuple[str, ...]
    is_agent: bool = False

    def concerns(self, text: str) -> bool:
        return not self.triggers or any(trigger in text for trigger in self.triggers)


def _table(*rows: tuple[str, str]) -> tuple[ParserEntry, ...]:
    return tuple(ParserEntry(module, tuple(words.split("|"))) for module, words in rows)


AGENT = ParserEntry(
    "agents",
    (
        "Aider v",
        "OpenAI Codex v",
        "codex_home",
        '"type":"result"',
        '"type":"error"',
        "thread.started",
        "litellm.",
        "rompt is too long",
        "Request too large",
        "Gemini API",
        "API Error",
        "redit balance",
        "usage limit",
        "token limit!",
        "reflections allowed",
        "max turns",
        "Invalid API key",
        "Auth method",
        "Context limit reached",
        "loop was detected",
        "onversation too long",
        "Gemini CLI is not",
        '"session_id": "',
        "Not logged in",
        "Please run /login",
    ),
    is_agent=True,
)

# Order: test runners know most about a failure, then compilers and checkers, then package managers and
# shells, then bare stack traces, and last what merely looks like an error.
PARSERS: tuple[ParserEntry, ...] = (
    AGENT,
    *_table(
        (
            "pytest",
            "= FAILURES =|= ERRORS =|FAILED |ERROR | passed| failed|no tests ran|conftest|pytest|py.test"
            "|deselected",
        ),
        ("unittest", "\nRan |=====\nERROR: |=====\nFAIL: "),
        ("jest", "● |Test Suites:|LOGGING RETRY|No tests found, exiting"),
        ("vitest", "⎯⎯|No test files found|Vitest|Test Files  "),
        ("tap", "not ok |ok 1"),
        ("ava", "  ─\n|  ─────"),
        ("cargo_test", "panicked at|test result: |... FAILED|nextest|overflowed its stack|(signal: "),
        ("go_test", "--- FAIL|--- PASS|panic: |DATA RACE|fatal error: |\nDONE "),
        ("maven", "[ERROR]|Tests run: "),
        ("gradle", " FAILED|What went wrong| tests completed"),
        (
            "junit_text",
            "[junit]|Testcase: |JUnit Jupiter|JUnit Vintage| tests successful |There was 1 failure"
            "|There were ",
        ),
        ("rspec", "Failure/Error:| examples, | example, |An error occurred while loading"),
        ("minitest", ") Failure:|) Error:| assertions, |\nFailure:|\nError:"),
        (
            "phpunit",
            "PHPUnit|Failed asserting|Assertions: |FAILURES!|PHP Fatal|PHP Parse|Fatal error: "
            "|Parse error: |No tests executed!| assertions)",
        ),
        ("perl", "# Failed test|#   Failed test|.t line |.pm line |.pl line |Files=|@INC"),
        (
            "dotnet",
            "Error Message:|[FAIL]|error CS|error NU|error MSB|error FS|error NETSDK|Failed!  -|Passed!  -",
        ),
        (
            "cmake",
            "CMake Error|***Failed|***Exception|***Timeout|***Not Run|% tests passed|No tests were found"
            "|tests FAILED",
        ),
        ("numbered", " failing| passing| failed\n| flaky| specs, | spec, |1) "),
        (
            "other_runners",
            "*** FAILED ***|==> X |[E]|| FAIL ||✖ |✘ |× | => |FAILED in |) test | → |FAILED\n|TIMEOUT in"
            "|  1) ",
        ),
        (
            "bundlers",
            "ERROR in |[ERROR]|error during build|Build failed|RollupError|Failed to compile|[vite]|[plugin",
        ),
        ("xctest", "XCTAssert|Test Case '"),
        ("terraform", "│ Error: |╷|Error: "),
        ("docker", "failed to solve|failed to build|returned a non-zero code"),
        ("tsc", "error TS"),
        ("eslint", " error  | warning  |[Error/|✖ |  ✖|  ×"),
        ("mypy", ": error: | - error: "),
        ("python_lint", ".py:|--> |ruff failed"),
        ("rust", "error[E|error: "),
        ("go", ".go:|go: |FAIL\t|missing go.sum|GOROOT|build constraints"),
        ("javac", ".java:|.kt:|.scala:|.groovy:|.kts:|.sc:"),
        ("sanitizer", "Sanitizer: |runtime error: |== Invalid |== Conditional|== Use of|== Process term"),
        (
            "gcc",
            "error: |error C|error LNK|undefined reference|ld: |collect2|Undefined symbols"
            "|multiple definition|Error: |error:\n",
        ),
        (
            "linters",
            "::error |>> Issue|coverage |....Failed|[warn] |would reformat|cannot format|incorrectly sorted"
            "|Would reformat|would be |Diff in |: C: |: W: "
            "|: E: |: F: |SC|ERROR: |DL3|DL4|MD0|.lua:|lint/| | ERROR |.php|.elm|.kt:|) ",
        ),
        ("npm", "npm ERR!|npm error"),
        (
            "node_packages",
            "ERR_PNPM|ELIFECYCLE|error Command|error Couldn|➤ YN|yarn|lockfile|Usage Error|bun "
            "|error An unexpected|Script not found",
        ),
        (
            "python_packages",
            "ERROR: |error: |× |version solving|has requirement| requires |poetry|Pipfile|PackagesNotFound"
            "|Unsatisfiable|ResolvePackage|libmamba|Lock file|Retrying (|depends on|Python",
        ),
        (
            "system_packages",
            "E: |Err:|dpkg|unable to select|Unable to find|No match for|gem |Gem|Bundler|bundle|Gemfile"
            "|composer|php|[!]|! |Mix|daemon|ERROR: |fatal: |remote: |error: |No package|formula|gems"
            "|Could not find|requirements could not|CONFLICT (|lock file",
        ),
        ("make", "make: |make[|ninja: |FAILED: |just: |akefile:|Recipe `|.mk:"),
        (
            "shell",
            "Assertion |terminate called|smashing|overflow detected|The term |not found|No such file"
            "|ermission denied|imed out|took longer|exceeded the max|Killed|killed"
            "|oom|OOM|memory|fault|Abort|Bus error|Illegal|Floating|yntax error|unexpected EOF|substitution"
            "|unbound|parameter|Terminated|No space|quota|disk space|ENOSPC|shared |GLIBC|dyld|Exec format"
            "|cannot execute|can't open file|No module named|main class|jarfile|SIGSEGV|open files"
            "|list too long|fork|sending signal|No output has|is not recognized|was cancel|deadline"
            "|bad_alloc|Library not loaded|Trace/|Unknown command",
        ),
        ("traceback", "Traceback (most recent call last)"),
        ("node", "UnhandledPromise|    at |❯ |heap out of memory|Allocation failed|Maximum call stack"),
        ("jvm_stack", "\tat |    at "),
        ("ruby", ":in `|:in '|rake aborted|rails aborted|.rb:"),
    ),
    ParserEntry("generic", ()),
)
