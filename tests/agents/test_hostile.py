"""Agents that misbehave: silent from the start, endlessly loud, leaving children, writing where they must not."""

from __future__ import annotations

import json
import os
import resource
import shlex
import sys
import tempfile
from pathlib import Path

import pytest

from buildloop.agents.boundaries import COMMON
from buildloop.agents.confine import can_confine
from buildloop.agents.registry import cli_agent
from buildloop.capture import HEAD_BYTES, TAIL_BYTES
from buildloop.models import AgentOutcome, Permissions
from tests.support.calls import agent_call
from tests.support.repos import GREEN, make_repo
from tests.support.waiting import processes_with

pytestmark = pytest.mark.slow
# Read when this is imported: tests get homes of their own.
USERS_HOME = Path.home()
RESULT = {
    "type": "result", "subtype": "success", "is_error": False, "result": "Done.", "session_id": "s", "num_turns": 1,
    "total_cost_usd": 0.5, "modelUsage": {}, "permission_denials": [],
    "usage": {"input_tokens": 0, "output_tokens": 0},
}  # fmt: skip
END = f"print({json.dumps(RESULT)!r}, flush=True)"


@pytest.fixture
def play(tmp_path, monkeypatch):
    """Run Python code in the place of Claude Code."""

    def run(code: str, **changes):
        program = tmp_path / "bin" / "claude"
        program.parent.mkdir()
        (tmp_path / "agent.py").write_text(code)
        program.write_text(
            f"#!/bin/sh\nexec {shlex.join([sys.executable, '-I', '-S', str(tmp_path / 'agent.py')])}\n"
        )
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        make_repo(tmp_path / "work", GREEN)
        return cli_agent("claude").run(agent_call(tmp_path, mark=f"h-{tmp_path.name}", **changes))

    return run


def test_silence_before_the_first_byte(play, tmp_path):
    reply = play("import time; time.sleep(600)", idle_timeout=1)
    assert reply.outcome is AgentOutcome.HUNG
    assert "no output for 1 s" in reply.error
    assert reply.usage.context_tokens is None
    assert processes_with(f"h-{tmp_path.name}") == []


def test_an_agent_that_ignores_being_asked_to_stop_is_stopped(play, tmp_path):
    code = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(600)"
    assert play(code, timeout=1).outcome is AgentOutcome.TIMEOUT
    assert processes_with(f"h-{tmp_path.name}") == []


def test_a_flood_of_400_megabytes_fills_neither_memory_nor_disk(play, tmp_path):
    """Its end is read all the same: that is where the result stands."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    flood = "import os\nblock = (b'x' * 1023 + b'\\n') * 1024\nfor _ in range(400): os.write(1, block)\n"
    reply = play(f"{flood}{END}", timeout=600)
    assert (reply.outcome, reply.text) == (AgentOutcome.OK, "Done.")
    kept = (tmp_path / "out" / "agent.out").stat().st_size
    assert kept <= HEAD_BYTES + TAIL_BYTES + 1000
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown * 1024 < 4 * (HEAD_BYTES + TAIL_BYTES)


def test_a_line_without_end_is_no_trouble(play):
    code = f"import os\nfor _ in range(12): os.write(1, b'{{' * 2**20)\nprint()\n{END}"
    assert play(code, timeout=300).text == "Done."


def test_children_in_sessions_of_their_own_end_with_the_call(play, tmp_path):
    """Started with setsid, twice forked, deaf to signals: none is left."""
    child = (
        "import os, signal, time; os.setsid(); signal.signal(15, signal.SIG_IGN); os.fork(); time.sleep(600)"
    )
    start = [sys.executable, "-c", child]
    code = f"import os, subprocess\nfor _ in range(3): subprocess.Popen({start!r}, start_new_session=True)\n{END}"
    assert play(code).outcome is AgentOutcome.OK
    assert processes_with(f"h-{tmp_path.name}") == []


def test_nothing_stays_in_the_folder_for_temporary_files(play, tmp_path):
    code = f"import os\nopen(os.environ['TMPDIR'] + '/left', 'w').close()\nprint(os.environ['TMPDIR'])\n{END}"
    play(code)
    folder = Path((tmp_path / "out" / "agent.out").read_text().splitlines()[0])
    assert folder != Path(tempfile.gettempdir())
    assert not folder.exists()


@pytest.fixture
def outside():
    """A folder of the user's; not among the temporary ones, where everybody may write."""
    shared = [Path(name).resolve() for name in (*COMMON, tempfile.gettempdir())]
    places = [
        place.resolve() for place in (Path(__file__).parents[2], USERS_HOME, Path("/opt"), Path("/var/lib"))
    ]
    usable = [
        place
        for place in places
        if os.access(place, os.W_OK) and not any(place.is_relative_to(folder) for folder in shared)
    ]
    if not usable:
        pytest.skip("there is no place to write but the temporary ones")
    with tempfile.TemporaryDirectory(dir=usable[0], prefix=".outside-") as folder:
        yield Path(folder)


WRITES = """
import os, subprocess, sys
target = {target!r}
open('inside', 'w').write('x')
for attempt in (
    lambda: open(target + '/new', 'w'),
    lambda: open(target + '/old', 'a').write('x'),
    lambda: os.truncate(target + '/old', 0),
    lambda: os.unlink(target + '/old'),
    lambda: os.rename(target + '/old', 'taken'),
    lambda: os.link(target + '/old', target + '/linked'),
    lambda: os.mkdir(target + '/folder'),
    lambda: os.symlink('/', target + '/link'),
    lambda: subprocess.run(['sh', '-c', 'setsid sh -c "echo x > $0/by-a-child"', target], check=True),
):
    try:
        attempt()
    except OSError as error:
        print('denied:', error.strerror)
    except subprocess.CalledProcessError:
        print('denied: to a child')
"""


@pytest.mark.skipif(not can_confine(), reason="this kernel has no Landlock")
@pytest.mark.parametrize("permissions", [Permissions.ASK_NOTHING, Permissions.EDIT_ONLY])
def test_writing_outside_the_workspace_is_prevented(play, outside, tmp_path, permissions):
    (outside / "old").write_text("the user's")
    reply = play(WRITES.format(target=str(outside)) + END, permissions=permissions)
    assert reply.outcome is AgentOutcome.OK
    assert (tmp_path / "work" / "inside").exists()
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"old": "the user's"}


def test_full_permissions_are_full(play, outside):
    play(f"open({str(outside / 'new')!r}, 'w').write('x')\n{END}", permissions=Permissions.FULL)
    assert (outside / "new").exists()
