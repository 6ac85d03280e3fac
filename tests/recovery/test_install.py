"""npm, yarn, pnpm, cargo, go and bundler, offline: from folders of the test's own."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from buildloop.errors import InstallUnavailable
from tests.support.installing import environment, gate, install, needs, put, wheel


def test_nothing_to_install_from(work):
    assert not install(work, environment(work)).done


@pytest.mark.slow
class TestNpm:
    def locked(self, work: Path) -> None:
        needs("npm")
        put(
            work,
            {
                "left/package.json": '{"name": "left", "version": "1.0.0", "main": "i.js"}',
                "left/i.js": "module.exports = 1",
                "package.json": json.dumps({"name": "shop", "dependencies": {"left": "file:left"}}),
            },
        )
        subprocess.run(["npm", "install", "--offline"], cwd=work, check=True, capture_output=True)

    def test_a_locked_install(self, work):
        self.locked(work)
        shutil.rmtree(work / "node_modules")
        done = install(work, environment(work))
        assert done.done, done.explanation
        assert gate("node -e 'require(\"left\")'", work, done).returncode == 0

    def test_a_failed_install_leaves_the_old_packages_as_they_were(self, work):
        self.locked(work)
        (work / "node_modules" / "by-hand").mkdir()
        both = {"left": "file:left", "right": "file:right"}
        put(
            work,
            {
                "right/package.json": '{"name": "right", "version": "2.0.0"}',
                "package.json": json.dumps({"name": "shop", "dependencies": both}),
            },
        )
        done = install(work, environment(work))
        assert not done.done
        assert any("right@2.0.0 from lock file" in wrong for wrong in done.wrong), done.explanation
        assert (work / "node_modules" / "by-hand").is_dir()
        assert gate("node -e 'require(\"left\")'", work, done).returncode == 0

    def test_what_a_killed_install_moved_is_back_before_the_next_one(self, work):
        self.locked(work)
        aside = work.parent / "run" / "aside"
        put(aside, {"note.json": json.dumps([{"path": str(work / "node_modules"), "there": True}])})
        (work / "node_modules").rename(aside / "0")
        (work / "package-lock.json").unlink()
        (work / "package.json").unlink()
        install(work, environment(work))
        assert (work / "node_modules" / "left").exists()

    def test_a_registry_that_does_not_answer_is_another_matter(self, work):
        needs("npm")
        put(work, {"package.json": '{"dependencies": {"left-pad": "1.0.0"}}'})
        unreachable = {"npm_config_registry": "http://127.0.0.1:9", "npm_config_fetch_retries": "0"}
        with pytest.raises(InstallUnavailable):
            install(work, environment(work, npm_config_offline="false", **unreachable))


@pytest.mark.slow
def test_two_ecosystems_are_both_installed_and_one_success_is_worth_a_gate(work):
    needs("npm")
    wheel(work / "vendor", "shelf")
    put(work, {"requirements.txt": "--find-links vendor\nshelf\n"})
    put(work, {"package.json": '{"dependencies": {"absent": "file:nowhere.tgz"}}'})
    done = install(work, environment(work))
    assert done.done
    assert "npm could not install" in done.explanation
    assert "pip installed" in done.explanation
    assert gate("python -c 'import shelf'", work, done).returncode == 0


SMALL = {
    "cargo": (
        {
            "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n'
            '[dependencies]\nshelf = { path = "shelf" }\n',
            "src/lib.rs": "",
            "shelf/Cargo.toml": '[package]\nname = "shelf"\nversion = "0.1.0"\nedition = "2021"\n',
            "shelf/src/lib.rs": "",
        },
        {"shelf/Cargo.toml": '[package]\nname = "shelf"\nversion = "0.1.0"\n[dependencies]\nabsent = "9"\n'},
        "absent",
    ),
    "go": (
        {
            "go.mod": "module shop\n\ngo 1.19\n\nrequire example.com/shelf v1.0.0\n"
            "replace example.com/shelf => ./shelf\n",
            "shelf/go.mod": "module example.com/shelf\n",
        },
        {"go.mod": "module shop\n\ngo 1.19\n\nrequire example.com/absent v0.9.9\n"},
        "example.com/absent@v0.9.9",
    ),
    "bundle": (
        {
            "Gemfile": "gem 'shelf', path: 'shelf'\n",
            "shelf/shelf.gemspec": "Gem::Specification.new { |s| s.name = 'shelf'; s.version = '1'; s.summary = 's'; "
            "s.authors = ['a'] }\n",
        },
        {"Gemfile": "gem 'shelf', '= 9', path: 'shelf'\n"},
        "shelf (= 9)",
    ),
    "pnpm": (
        {
            "package.json": '{"dependencies": {"left": "link:left"}}',
            "left/package.json": '{"name": "left", "version": "1.0.0"}',
            "pnpm-lock.yaml": "lockfileVersion: '9.0'\nsettings:\n  autoInstallPeers: true\n"
            "  excludeLinksFromLockfile: false\nimporters:\n  .:\n    dependencies:\n      left:\n"
            "        specifier: link:left\n        version: link:left\n",
        },
        {"package.json": '{"dependencies": {"left": "link:left", "absent": "9.9.9"}}'},
        '"absent":"9.9.9"',
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("tool", SMALL)
def test_others_install_what_is_there_and_name_what_is_not(tool, work):
    needs(tool)
    good, bad, named = SMALL[tool]
    put(work, good)
    found = environment(work, GOFLAGS="-mod=mod")
    done = install(work, found)
    assert done.done, done.explanation
    put(work, bad)
    done = install(work, found)
    assert not done.done
    assert any(named in wrong for wrong in done.wrong), done.explanation


@pytest.mark.slow
def test_yarn_installs_what_its_lock_file_says_whichever_yarn_it_is(work):
    """Each yarn writes its own kind of lock file, and has its own word for a locked install."""
    needs("yarn")
    found = environment(work, YARN_ENABLE_NETWORK="0", YARN_ENABLE_TELEMETRY="0")
    left = {"left/package.json": '{"name": "left", "version": "1.0.0", "main": "i.js"}', "left/i.js": ""}
    put(
        work,
        {
            "package.json": '{"name": "shop", "version": "1.0.0", "dependencies": {"left": "link:left"}}',
            **left,
        },
    )
    subprocess.run(["yarn", "install"], cwd=work, env=found, check=True, capture_output=True)
    before = sorted(path.name for path in work.iterdir())
    done = install(work, found)
    assert done.done, done.explanation
    assert sorted(path.name for path in work.iterdir()) == before
    put(
        work, {"package.json": '{"name": "shop", "version": "1.0.0", "dependencies": {"other": "link:left"}}'}
    )
    assert not install(work, found).done
    assert sorted(path.name for path in work.iterdir()) == before
