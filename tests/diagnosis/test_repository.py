"""What a repository says about whose a name is."""

from __future__ import annotations

import pytest

from buildloop.diagnosis.repository import names_in_repository


def write(root, **files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


FILES = {
    "helpers.py": "",
    "shop/__init__.py": "",
    "src/billing/core.py": "",
    "lib/Cart/Tax.pm": "",
    "packages/ui/package.json": '{\n  "name": "@acme/ui"\n}',
    "go.mod": "module github.com/acme/svc\n\ngo 1.22\n",
    "crates/rate-limit/Cargo.toml": '[package]\nname = "rate-limit"\n',
    "src/main/java/com/acme/Cart.java": "",
    "composer.json": '{"autoload": {"psr-4": {"Shop\\\\": "src/"}}}',
    "docker/redis/redis.conf": "",
    "node_modules/axios/index.js": "",
    ".venv/lib/requests.py": "",
}


@pytest.fixture
def repo(tmp_path):
    write(tmp_path, **FILES)
    return tmp_path


@pytest.mark.parametrize(
    "name",
    [
        "helpers",
        "shop",
        "billing",
        "Cart",
        "@acme/ui",
        "github.com/acme/svc",
        "rate_limit",
        "com.acme",
        "Shop",
    ],
)
def test_what_is_ours(repo, name):
    assert name in names_in_repository(repo)


@pytest.mark.parametrize("name", ["redis", "axios", "requests", "docker"])
def test_what_is_not(repo, name):
    assert name not in names_in_repository(repo)


def test_a_folder_that_is_not_there_has_no_names(tmp_path):
    assert names_in_repository(tmp_path / "nowhere") == frozenset()
