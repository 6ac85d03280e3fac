"""A bucket that several machines use: one at a time, whole states only, nothing written where it does not belong."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from pathlib import Path
from uuid import uuid4

import pytest

from buildloop.errors import InputError, RunLocked
from buildloop.models import WorkspaceInfo
from buildloop.request import BuildRequest
from buildloop.result import BuildResult, StopReason
from buildloop.storage_index import Index
from tests.support.repos import git

RUN = "shared"
RESULT = BuildResult(
    run_id=RUN,
    reason=StopReason.COMPLETE,
    explanation="It is green.",
    next_step="git merge buildloop/shared",
    iterations=3,
    sessions=1,
    branch="buildloop/shared",
    commit="c",
    tree="t",
    run_dir="/on/the/worker",
)


@pytest.fixture
def bucket(tmp_path, monkeypatch) -> Path:
    """A folder that is only reached through fsspec, as an object store would be."""
    monkeypatch.setenv("BUILDLOOP_STORAGE", f"local://{tmp_path / 'bucket'}")
    return tmp_path / "bucket"


@pytest.fixture
def machine(request_for, repo, tmp_path):
    """The same run, seen by machines with state directories of their own."""

    def on(name: str) -> BuildRequest:
        asked = request_for(repo, run_id=RUN, state_dir=str(tmp_path / name))
        asked.run_dir.mkdir(parents=True, exist_ok=True)
        return asked

    return on


def put(request: BuildRequest, name: str, text: str) -> Path:
    path = request.run_dir / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def with_branch(request: BuildRequest, repo: Path) -> WorkspaceInfo:
    """The run has a branch in the repository, and says so in its folder."""
    git(repo, "branch", f"buildloop/{RUN}")
    fields = {"root": str(repo), "workdir": str(repo), "branch": f"buildloop/{RUN}", "start_tree": "t"}
    start = git(repo, "rev-parse", "HEAD")
    workspace = WorkspaceInfo(**fields, start_commit=start, repo=str(repo), repo_id="id")
    put(request, "workspace.json", workspace.model_dump_json())
    return workspace


def test_what_was_kept_is_fetched_and_what_is_local_stays(bucket, machine, monkeypatch):
    from tasks.bucket import fetch, keep

    here, there = machine("here"), machine("there")
    put(here, "iterations/1-1/reply.json", "one")
    put(here, "lock", "1 here")
    put(here, "packages/lib/big.py", "x")
    put(here, "aside/node_modules/x.js", "x")
    (here.run_dir / "link").symlink_to("/etc/passwd")
    (here.run_dir / "folder").symlink_to("/etc")
    monkeypatch.chdir(here.run_dir)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("agent.sock")
        keep(here, None)
    assert fetch(there)
    found = {
        path.relative_to(there.run_dir).as_posix() for path in there.run_dir.rglob("*") if path.is_file()
    }
    assert found == {"iterations/1-1/reply.json", ".storage"}


def test_a_machine_that_worked_last_keeps_what_it_has(bucket, machine):
    """It was killed after it wrote an answer and before it could send it: that answer is paid for."""
    from tasks.bucket import fetch, keep

    here = machine("here")
    put(here, "events.jsonl", "a\n")
    keep(here, None)
    put(here, "iterations/1-1/reply.json", "paid")
    assert not fetch(here)
    assert (here.run_dir / "iterations/1-1/reply.json").read_text() == "paid"


def test_what_another_machine_did_since_replaces_what_is_here(bucket, machine):
    from tasks.bucket import fetch, keep

    here, there = machine("here"), machine("there")
    put(here, "events.jsonl", "a\n")
    keep(here, None)
    put(here, "iterations/1-1/reply.json", "never sent")
    fetch(there)
    put(there, "events.jsonl", "a\nb\n")
    keep(there, None)
    assert fetch(here)
    assert (here.run_dir / "events.jsonl").read_text() == "a\nb\n"
    assert not (here.run_dir / "iterations/1-1/reply.json").exists()


def test_how_a_run_on_another_machine_ended_is_read_from_the_bucket(bucket, machine, repo):
    """By somebody who shares no folder with the worker and has not even the repository."""
    from prefect.client.schemas.objects import FlowRun
    from prefect.states import Completed, Running

    from tasks.bucket import fetch, keep
    from tasks.launch import ended

    here, there = machine("here"), machine("there").model_copy(update={"repo": "/not/here"})
    workspace = with_branch(here, repo)
    put(here, "result.json", RESULT.model_dump_json())
    keep(here, workspace)
    put(there, "result.json", RESULT.model_copy(update={"iterations": 0}).model_dump_json())
    assert ended(FlowRun(flow_id=uuid4(), state=Running()), there) is None
    assert (there.run_dir / "workspace.json").exists() is False, "a run that still works is left in peace"
    found = ended(FlowRun(flow_id=uuid4(), state=Completed(message="done")), there)
    assert found is not None
    assert (found.state_name, found.message, found.result) == ("Completed", "done", RESULT)
    git(repo, "update-ref", "-d", "refs/heads/buildloop/shared")
    assert fetch(there), "its commits were not taken, so they are still to be had"
    assert git(repo, "rev-parse", "buildloop/shared") == workspace.start_commit


def test_half_of_an_upload_is_never_taken_for_the_whole(bucket, machine, monkeypatch):
    from tasks import bucket as kept

    here, there = machine("here"), machine("there")
    for name in ("a", "b"):
        put(here, name, "first")
    kept.keep(here, None)
    for name in ("a", "b"):
        put(here, name, f"second {name}")
    sending, sent = kept.Store.put, []

    def cut_off(self, path: Path, digest: str) -> None:
        if sent:
            raise OSError("the network is gone")
        sent.append(sending(self, path, digest))

    monkeypatch.setattr(kept.Store, "put", cut_off)
    with pytest.raises(OSError, match="network is gone"):
        kept.keep(here, None)
    assert kept.fetch(there)
    assert [(there.run_dir / name).read_text() for name in ("a", "b")] == ["first", "first"]


def test_objects_nobody_needs_any_more_are_removed_and_damaged_ones_refused(bucket, machine):
    from tasks.bucket import fetch, keep

    here, there = machine("here"), machine("there")
    for text in ("one", "two"):
        put(here, "events.jsonl", text)
        keep(here, None)
    (only,) = (bucket / "runs" / RUN / "objects").iterdir()
    only.write_text("cut of")
    with pytest.raises(InputError, match="damaged"):
        fetch(there)
    assert not (there.run_dir / "events.jsonl").exists()


@pytest.mark.parametrize(
    "name", ["../outside", "/etc/outside", "a/../../outside", "lock", "packages/x", "a//b", ""]
)
def test_a_name_that_leads_elsewhere_is_refused_before_anything_is_written(bucket, machine, name):
    from tasks.bucket import fetch, keep

    here, there = machine("here"), machine("there")
    put(here, "a", "x")
    keep(here, None)
    path = bucket / "runs" / RUN / "index.json"
    index = Index.model_validate_json(path.read_bytes())
    path.write_text(Index(id="evil", files={"a": index.files["a"], name: index.files["a"]}).model_dump_json())
    with pytest.raises(InputError, match="nothing was taken"):
        fetch(there)
    assert [*there.run_dir.iterdir()] == []


def test_nothing_is_written_through_a_link(bucket, machine, tmp_path):
    from tasks.bucket import fetch, keep

    here, there = machine("here"), machine("there")
    put(here, "iterations/1-1/reply.json", "new")
    put(here, "result.json", "new")
    keep(here, None)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("mine")
    (there.run_dir / "iterations").symlink_to(outside)
    (there.run_dir / "result.json").symlink_to(outside / "precious")
    fetch(there)
    assert (there.run_dir / "iterations/1-1/reply.json").read_text() == "new"
    assert [path.name for path in outside.iterdir()] == ["precious"]
    assert (outside / "precious").read_text() == "mine"


def test_marks_of_the_run_travel_with_its_branch(bucket, machine, repo):
    from tasks.bucket import fetch, keep

    here, there = machine("here"), machine("there")
    workspace = with_branch(here, repo)
    start = workspace.start_commit
    for mark in ("best", "unfinished"):
        git(repo, "update-ref", f"refs/buildloop/{RUN}/{mark}", start)
    keep(here, workspace)
    for ref in git(repo, "for-each-ref", "--format=%(refname)").splitlines():
        if ref != "refs/heads/main":
            git(repo, "update-ref", "-d", ref)
    fetch(there)
    refs = git(repo, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    names = ["refs/buildloop/shared/best", "refs/buildloop/shared/unfinished", "refs/heads/buildloop/shared"]
    assert refs == [f"{name} {start}" for name in [*names, "refs/heads/main"]]


def test_two_machines_cannot_work_on_one_run(bucket, machine, monkeypatch):
    from tasks import lease

    monkeypatch.setattr(lease, "RENEW_SECONDS", 0.05)
    monkeypatch.setattr(lease, "LOOK_SECONDS", 0.02)
    here, there = lease.leased(machine("here")), lease.leased(machine("there"))
    with here, pytest.raises(RunLocked, match="being worked on by process"), there:
        pytest.fail("both hold it")
    with lease.leased(machine("there")):
        pass
    assert not (bucket / "runs" / RUN / "lease.json").exists()


def test_of_many_that_want_a_run_at_once_one_gets_it(bucket, machine, monkeypatch):
    from tasks import lease

    monkeypatch.setattr(lease, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(
        lease, "LOOKS", 10_000
    )  # on a busy machine the one who creates it may be slow to fill it
    monkeypatch.setattr(lease, "RENEW_SECONDS", 0.02)
    holders, refused = [], []
    machines = [machine(f"m{number}") for number in range(6)]
    over = threading.Event()

    def work(asked: BuildRequest) -> None:
        try:
            with lease.leased(asked):
                holders.append(asked)
                over.wait(60)
        except RunLocked:
            refused.append(asked)
            if len(refused) == len(machines) - 1:
                over.set()

    threads = [threading.Thread(target=work, args=(each,)) for each in machines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (len(holders), len(refused)) == (1, 5)


@pytest.mark.parametrize("owner", ["dead", "silent", "torn"])
def test_a_run_whose_machine_is_gone_can_be_taken_over(bucket, machine, monkeypatch, owner):
    from tasks import lease

    monkeypatch.setattr(lease, "LOOK_SECONDS", 0.01)
    place = bucket / "runs" / RUN
    place.mkdir(parents=True)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left = {
        "dead": {"owner": "x", "host": socket.gethostname(), "pid": gone.pid, "expires": 9e9},
        "silent": {"owner": "x", "host": "elsewhere", "pid": 1, "expires": 1.0},
        "torn": "half a le",
    }[owner]
    (place / "lease.json").write_text(json.dumps(left))
    with lease.leased(machine("there")):
        lease.check_lease(machine("there").run_dir)


def test_a_machine_that_was_taken_for_dead_keeps_nothing(bucket, machine, monkeypatch):
    from tasks import lease
    from tasks.bucket import keep

    here = machine("here")
    put(here, "a", "x")
    taken = {"owner": "other", "host": "elsewhere", "pid": 1, "expires": 9e9}
    with lease.leased(here):
        (bucket / "runs" / RUN / "lease.json").write_text(json.dumps(taken))
        with pytest.raises(RunLocked, match="on elsewhere"):
            keep(here, None)
    assert not (bucket / "runs" / RUN / "index.json").exists()
    assert json.loads((bucket / "runs" / RUN / "lease.json").read_text()) == taken
