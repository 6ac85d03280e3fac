"""`buildloop run`: check everything that can be checked, then hand over to the flow."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from buildloop.agents.registry import check_agent_name, check_agents
from buildloop.agents.unused_options import unused_options
from buildloop.cli.execute import execute
from buildloop.cli.output import console
from buildloop.config import Setting, gather_settings, make_request
from buildloop.detect import detect_tests
from buildloop.errors import InputError
from buildloop.goal import MINIMUM_FREE_BYTES
from buildloop.request import BuildRequest, DirtyPolicy, new_run_id
from buildloop.request_secrets import without_secrets
from buildloop.sandbox import check_sandbox, sandbox_of
from buildloop.workspace.git import forget_calling_git
from buildloop.workspace.repository import check_start, open_repository

NOT_SETTINGS = frozenset({"as_json", "verbose", "include_dirty", "from_head"})


def start_run(flags: Mapping[str, Any]) -> int:
    forget_calling_git()
    request = checked_request(flags, os.environ)
    for note in unused_options(request):
        console(stderr=True).print(f"note: {note}", markup=False, highlight=False)
    screen = console(stderr=bool(flags["as_json"]))
    return execute(request, screen, verbose=bool(flags["verbose"]), as_json=bool(flags["as_json"]))


def checked_request(flags: Mapping[str, Any], environment: Mapping[str, str]) -> BuildRequest:
    """A request that can be started. Whatever is wrong is said here, before anything is made or started."""
    if not (flags["goal"] or "").strip() and flags["issue"] is None:
        raise InputError("the goal must not be empty; say what to achieve, or name an issue with --issue N")
    repository = open_repository(Path(flags["repo"]))
    settings = gather_settings(_settings(flags), environment, repository.root / repository.inside)
    settings = _filled_in(settings, repository.root / repository.inside)
    request = make_request(settings).named(new_run_id())
    request = without_secrets(_with_issue(request, environment), environment)
    check_start(repository, request)
    check_agents(request)
    check_sandbox(sandbox_of(request))
    check_writable(Path(request.state_dir))
    return request


def _with_issue(request: BuildRequest, environment: Mapping[str, str]) -> BuildRequest:
    """Read the issue now, if this environment has a token for it: then a wrong number is said before anything starts.
    Else the flow reads it, with the token of the secret block."""
    if request.issue is None:
        return request
    from buildloop.github.client import connect
    from buildloop.github.issue import read_brief, with_brief
    from buildloop.github.publish import access_for

    access = access_for(Path(request.repo), request.github_repo, environment)
    if not access.token and not request.dry_run:
        return request
    return with_brief(request, read_brief(connect(access.repo, access.token), access.repo, request.issue))


def check_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{os.getpid()}"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise InputError(
            f"the state directory {folder} cannot be written ({error.strerror}); choose another with --state-dir"
        ) from None
    free = shutil.disk_usage(folder).free
    if free < MINIMUM_FREE_BYTES:
        raise InputError(
            f"only {free // 2**20} MB are free in the state directory {folder}; "
            "free at least 100 MB there, or choose another with --state-dir"
        )


def _settings(flags: Mapping[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in flags.items() if name not in NOT_SETTINGS}
    if flags["include_dirty"] and flags["from_head"]:
        raise InputError("--include-dirty and --from-head exclude each other; choose one")
    given["dirty"] = (
        DirtyPolicy.INCLUDE if flags["include_dirty"] else DirtyPolicy.IGNORE if flags["from_head"] else None
    )
    given["repo"] = str(flags["repo"])
    given["goal"] = flags["goal"] or None
    given["dry_run"] = flags["dry_run"] or None
    given["state_dir"] = str(flags["state_dir"]) if flags["state_dir"] else None
    return {
        name: (tuple(value) or None) if isinstance(value, list) else value for name, value in given.items()
    }


def _filled_in(settings: dict[str, Setting], repo: Path) -> dict[str, Setting]:
    """Guess only what is plain: the agent kind from what was given for it, the tests from the repository."""
    if "agent" not in settings:
        kind = "scripted" if "agent_script" in settings and "agent_command" not in settings else "command"
        settings["agent"] = Setting(kind, "--agent")
        if kind == "command" and "agent_command" not in settings:
            raise InputError(
                "no agent was chosen; give --agent claude (or another, see 'buildloop agents'), or "
                "--agent-command 'PROGRAM …' (the prompt comes on its stdin)"
            )
    for name in ("agent", "falsify"):
        for word in str(settings[name].value).split(",") if name in settings else ():
            if named := word.partition(":")[0].strip():
                check_agent_name(named)
    for name in ("agent_command", "falsify_command"):
        if name in settings:
            settings[name] = Setting(_findable(str(settings[name].value), repo), settings[name].source)
    if "test" not in settings:
        found = detect_tests(repo)
        if not found:
            raise InputError(f"no way to test {repo} was found; give the gate command with --test 'COMMAND'")
        settings["test"] = Setting((found[0].command,), f"the tests detected by {found[0].because}")
    return settings


def _findable(command: str, repo: Path) -> str:
    """Files named in the command are looked for in the workspace, then where the user typed it."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    here = Path.cwd()
    return shlex.join(
        str(here / word) if not (repo / word).exists() and (here / word).is_file() else word for word in words
    )
