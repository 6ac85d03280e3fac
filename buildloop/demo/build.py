"""Makes the sample repository of the demo: a git repository and a wheel to install, all from this package."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
SCRIPT = HERE / "agent.toml"
WHEEL = "tinymoney-1.0-py3-none-any.whl"
WHEEL_FILES = {
    "tinymoney.py": 'def show(cents):\n    return f"{cents // 100}.{cents % 100:02d}"\n',
    "tinymoney-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tinymoney\nVersion: 1.0\n",
    "tinymoney-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
}
IDENTITY = ("-c", "user.name=buildloop demo", "-c", "user.email=demo@localhost")


def build_sample(folder: Path) -> Path:
    """The repository `folder`/shop with one commit; its tests are red."""
    repo = folder / "shop"
    shutil.copytree(HERE / "sample", repo, ignore=shutil.ignore_patterns("__pycache__"))
    _write_wheel(repo / "vendor" / WHEEL)
    _git(repo, "init", "-q", "-b", "main")
    _git(repo, "add", "-A")
    _git(repo, *IDENTITY, "commit", "-q", "-m", "A shop whose tests are red")
    return repo


def _write_wheel(path: Path) -> None:
    path.parent.mkdir()
    listed = [*WHEEL_FILES, "tinymoney-1.0.dist-info/RECORD"]
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in WHEEL_FILES.items():
            wheel.writestr(name, text)
        wheel.writestr(listed[-1], "".join(f"{name},,\n" for name in listed))


def _git(repo: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=repo, check=True, capture_output=True)
