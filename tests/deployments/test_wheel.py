"""What is installed without a checkout: everything a run and a deployment read is in the wheel."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PACKAGES = ("buildloop", "flows", "tasks", "deployments")
ASK = """
import buildloop, flows, tasks
from deployments.apply import AUTOMATIONS, described, flow_of
print(buildloop.__file__)
print(*sorted(f"{flow_of(each)}/{each['name']}" for each in described()["deployments"]))
print(len(list(AUTOMATIONS.glob("*.yaml"))))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's content, in a folder that only that content can be imported from."""
    place = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(place)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = place.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place / "site")
    return place / "site"


def test_every_file_of_the_packages_is_in_it(installed):
    listed = subprocess.run(
        ["git", "ls-files", *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert len(listed) > 300
    assert not [name for name in listed if not (installed / name).is_file()]
    assert (installed / "deployments" / "prefect.yaml").read_text() == (ROOT / "prefect.yaml").read_text()


def test_deployments_and_automations_are_found_without_a_checkout(installed, tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", ASK],
        cwd=tmp_path,
        env={
            "PYTHONPATH": str(installed),
            "PATH": "/usr/bin:/bin",
            "HOME": str(tmp_path),
            "DO_NOT_TRACK": "1",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    origin, names, automations = ran.stdout.splitlines()
    assert origin.startswith(str(installed))
    assert names == "build-loop/ci build-loop/nightly build-loop/on-demand fleet/nightly supervise/poll"
    assert int(automations) >= 4
