"""`buildloop demo`: the whole loop on a sample repository, with a scripted agent in the place of a model."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from pathlib import Path

from buildloop.cli.execute import execute
from buildloop.cli.output import console
from buildloop.cli.paths import state_folder
from buildloop.cli.run import check_writable
from buildloop.demo.build import SCRIPT, build_sample
from buildloop.errors import InputError
from buildloop.memory.location import VARIABLE
from buildloop.request import BuildRequest, new_run_id
from buildloop.workspace.git import forget_calling_git, require_git

STORY = """\
A small shop whose tests are red for five reasons, and an agent (scripted, no model) that has to get through:
  a package that is not installed, a bug, a wrong idea it repeats, a context that fills up, and a flaky test.
"""


def play_demo(folder: Path | None, *, verbose: bool) -> int:
    forget_calling_git()
    require_git()
    screen, state = console(), state_folder(None)
    check_writable(state)
    place = _place(folder)
    repo = build_sample(place)
    request = BuildRequest(
        goal="Make all tests of the shop pass.",
        repo=str(repo),
        test=(f"{shlex.quote(sys.executable)} -m unittest discover -s tests -t .",),
        agent="scripted",
        agent_script=str(SCRIPT),
        state_dir=str(state),
    ).named(f"demo-{new_run_id()}")
    os.environ[VARIABLE] = str(place / "memory.db")  # a show leaves nothing in the user's own memory
    screen.print(STORY, markup=False)
    code = execute(request, screen, verbose=verbose, as_json=False)
    screen.print(f"  sample          {repo}", markup=False)
    screen.print(f"  files           {request.run_dir}", markup=False)
    screen.print("  Prefect UI      buildloop ui", markup=False)
    return code


def _place(folder: Path | None) -> Path:
    if folder is None:
        return Path(tempfile.mkdtemp(prefix="buildloop-demo-"))
    if (folder / "shop").exists():
        raise InputError(f"{folder / 'shop'} exists already; choose another folder with --dir")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror}") from None
    return folder
