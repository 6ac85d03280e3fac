"""Package managers, shells, agents, linters, containers, and what nobody listed."""

from __future__ import annotations

import pytest

from buildloop.diagnosis.categories import category_of
from buildloop.diagnosis.model import Category
from buildloop.gate.read import read_text


def first(log: str, exit_code: int = 1) -> tuple[str, str | None]:
    finding = read_text(log, exit_code).findings[0]
    return finding.tool, finding.type


@pytest.mark.parametrize(
    ("log", "tool", "kind"),
    [
        (
            "npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree\n",
            "npm",
            "ERESOLVE",
        ),
        ("npm ERR! code E404\nnpm ERR! 404 Not Found - GET https://r.example/x\n", "npm", "E404"),
        (
            ' ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile"\n',
            "pnpm",
            "ERR_PNPM_OUTDATED_LOCKFILE",
        ),
        ('error Couldn\'t find package "left-padd" on the "npm" registry.\n', "yarn", "install"),
        ("➤ YN0028: │ The lockfile would have been modified by this install\n", "yarn", "YN0028"),
        ("ERROR: No matching distribution found for nope==1\n", "pip", "resolve"),
        (
            "error: No solution found when resolving dependencies\n  cause: Because a depends on b\n",
            "uv",
            "resolve",
        ),
        (
            "Because no versions of requests match >99\n and app depends on requests, version solving "
            "failed.\n",
            "poetry",
            "resolve",
        ),
        ('error: failed to select a version for the requirement `serde = "^99"`\n', "cargo", None),
        ("Could not find rake-13.0.6 in locally installed gems\n", "bundler", "resolve"),
        ("E: Unable to locate package libfoo-dev\n", "apt", "install"),
        (
            "Your requirements could not be resolved to an installable set of packages.\n",
            "composer",
            "resolve",
        ),
        ("fatal: repository 'https://github.com/acme/x.git/' not found\n", "git", "remote"),
    ],
)
def test_package_managers(log: str, tool: str, kind: str | None):
    assert first(log) == (tool, kind)


def test_npm_leaves_out_usage_and_log_paths():
    reading = read_text(
        "npm error code EUSAGE\nnpm error\nnpm error Missing: left-pad@1.3.0 from lock file\nnpm error "
        "Usage:\n"
        "npm error [--install-strategy <hoisted|nested>]\nnpm error A complete log of this run can be found "
        "in: /x-debug-0.log\n",
        1,
    )
    assert reading.error_lines == (
        "npm error code EUSAGE",
        "npm error Missing: left-pad@1.3.0 from lock file",
    )


def test_npm_after_a_failed_script_is_only_an_echo():
    reading = read_text(
        "src/a.ts(2,2): error TS2322: no\nnpm ERR! code ELIFECYCLE\nnpm ERR! Exit status 2\n",
        2,
    )
    assert reading.error_lines[0].startswith("src/a.ts")


@pytest.mark.parametrize(
    ("line", "kind", "location"),
    [
        ("./run.sh: line 2: python3.13: command not found", "CommandNotFound", "run.sh:2"),
        ("sh: 1: jest: not found", "CommandNotFound", None),
        ("zsh: command not found: foo", "CommandNotFound", None),
        ("run.sh: line 7: syntax error near unexpected token `fi'", "SyntaxError", "run.sh:7"),
        ("bin/d.sh: line 3: TARGET_ENV: unbound variable", "UnboundVariable", "bin/d.sh:3"),
        ("timeout: sending signal TERM to command ‘./run.sh’", "Timeout", None),
        ("/bin/bash: line 1: 12345 Segmentation fault      (core dumped) ./run_tests", "Signal", None),
        ("Killed", "Killed", None),
        ("dd: error writing '/dev/full': No space left on device", "DiskFull", None),
        ("bash: ./run.sh: Permission denied", "Permission", None),
        (
            "./app: error while loading shared libraries: libfoo.so.1: cannot open shared object file",
            "SharedLibrary",
            None,
        ),
        (
            "The job running on runner X has exceeded the maximum execution time of 360 minutes.",
            "Timeout",
            None,
        ),
    ],
)
def test_shell(line: str, kind: str, location: str | None):
    reading = read_text(line + "\n", 1)
    assert (reading.findings[0].type, reading.location) == (kind, location)


@pytest.mark.parametrize(
    ("log", "tool", "kind"),
    [
        ("Prompt is too long · the request is ~213442 tokens (limit 200000)\n", "claude", "ContextOverflow"),
        (
            '{"type":"result","subtype":"success","is_error":true,"result":"Prompt is too long"}\n',
            "claude",
            "ContextOverflow",
        ),
        (
            "OpenAI Codex v0.1\nERROR: Codex ran out of room in the model's context window.\n",
            "codex",
            "ContextOverflow",
        ),
        (
            "OpenAI Codex v0.1\nERROR: Quota exceeded. Check your plan and billing details.\n",
            "codex",
            "AgentLimit",
        ),
        (
            '{"type":"init","session_id":"1"}\n'
            '{"type":"error","severity":"warning","message":"Loop detected, stopping execution"}\n',
            "gemini",
            "AgentLoop",
        ),
        ("Model openai/gpt-4o has hit a token limit!\n", "aider", "ContextOverflow"),
        ("Aider v0.86\nOnly 3 reflections allowed, stopping.\n", "aider", "AgentLoop"),
        ("Invalid API key · Please run /login\n", "claude", "AgentAuth"),
    ],
)
def test_agents_are_heard_even_when_they_end_with_zero(log: str, tool: str, kind: str):
    assert first(log, 0) == (tool, kind)


def test_an_agent_that_retried_and_went_on_is_in_no_trouble():
    log = (
        "Aider v0.86\nlitellm.RateLimitError: slow down\nThe API provider has rate limited you.\nRetrying "
        "in 0.2 seconds...\nDone.\n"
    )
    assert read_text(log, 0).findings == ()


def test_the_structured_log_of_a_program_is_no_agent_error():
    log = '{"type":"error","message":"context window of the shop is too long"}\n'
    assert all(f.tool not in ("claude", "codex", "gemini", "aider") for f in read_text(log, 1).findings)


def test_a_test_about_context_is_no_agent_error():
    log = "E       AssertionError: prompt is too long: token limit and context window\n"
    assert all(f.tool not in ("claude", "codex", "gemini", "aider") for f in read_text(log, 1).findings)


@pytest.mark.parametrize(
    ("log", "location"),
    [
        ("[warn] src/a.js\n[warn] Code style issues found in the above file.\n", "src/a.js"),
        ("would reformat /srv/a.py\n", "/srv/a.py"),
        ("lib/cart.rb:9:3: E: Lint/Syntax: unexpected token kEND\n", "lib/cart.rb:9"),
        (
            "\nIn bin/d.sh line 3:\n  rm $f\n     ^-- SC2086 (info): Double quote to prevent globbing.\n",
            "bin/d.sh:3",
        ),
        (
            " ------ ----\n  Line   src/Cart.php\n ------ ----\n  14     Method should return int.\n",
            "src/Cart.php:14",
        ),
        ("ERROR: UndefinedClass - src/A.php:3:5 - Class B does not exist\n", "src/A.php:3"),
        (
            "Dockerfile:6\n--------------------\n   6 "
            "| >>> RUN npm ci\n--------------------\nERROR: failed to solve: x\n",
            "Dockerfile:6",
        ),
    ],
)
def test_linters_and_containers(log: str, location: str):
    assert read_text(log, 1).location == location


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("error: something unheard of", "something unheard of"),
        ("[ERROR] frobnicator: no such gizmo", "frobnicator: no such gizmo"),
        ("2026-01-01 12:00:00,123 ERROR the gizmo is gone", "the gizmo is gone"),
        ("mytool: fatal: gizmo lost", "gizmo lost"),
        ("GizmoException: it is gone", "it is gone"),
        ("Could not open the gizmo", "Could not open the gizmo"),
    ],
)
def test_unknown_tools_are_read_by_anchored_words(line: str, message: str):
    assert read_text(f"starting\n{line}\n", 1).findings[0].message == message


@pytest.mark.parametrize(
    ("log", "location"),
    [
        ('api.proto:12:3: "Foo" is not defined.\n', "api.proto:12"),
        ("/srv/a.nim(5, 3) Error: undeclared identifier: 'foo'\n", "/srv/a.nim:5"),
        (
            'File "bin/main.ml", line 3, characters 10-13:\n3 | foo ()\n    ^^^\nError: Unbound value foo\n',
            "bin/main.ml:3",
        ),
        (
            '    error: undefined variable "foo"\n    │\n  5 │     foo\n    │     ^^^\n    └─ lib/c.ex:5:5\n',
            "lib/c.ex:5",
        ),
        ("tidy error: /srv/check/writeback.rs:495: trailing whitespace\n", "/srv/check/writeback.rs:495"),
        ("::error file=src/app.js,line=10,col=15::Missing semicolon\n", "src/app.js:10"),
    ],
)
def test_unknown_compilers_name_their_place(log: str, location: str):
    reading = read_text(log, 1)
    assert reading.location == location
    assert category_of(reading) in (Category.BUILD, Category.UNKNOWN)


@pytest.mark.parametrize(
    "line",
    [
        "12 passed, 0 failed",
        "0 errors, 3 warnings",
        "ok 2 - handles errors",
        "    ✓ reports an error to the user (3 ms)",
        "tests/test_error.py::test_failure PASSED [ 50%]",
        "   Compiling thiserror v1.0.50",
        "Collecting exceptiongroup>=1.0",
    ],
)
def test_words_in_passing_are_not_errors(line: str):
    assert read_text(f"{line}\nmake: *** [Makefile:2: all] Error 1\n").error_lines == (
        "make: *** [Makefile:2: all] Error 1",
    )
