"""Files around the tests: what they expect and read, dependencies, CI, and git's own switches."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from buildloop.workspace.integrity.files import is_test, is_test_data
from buildloop.workspace.integrity.model import Change, Objection
from buildloop.workspace.integrity.tricks import added_lines

RUNNERS = r"pytest|jest|vitest|mocha|ava|tap|jasmine|karma|chai|playwright|cypress|rspec|minitest|testify|nose2?|unittest|phpunit|junit|hypothesis|@jest/\S+|node-tap"
REPLACED_RUNNER = re.compile(
    rf"""["']?(?:{RUNNERS})["']?\s*[:=@]\s*["']?(?:\{{\s*)?(?:file:|link:|portal:|npm:|path\s*=|git\+|workspace:|\.{{1,2}}/)|(?:{RUNNERS})\s*@\s*(?:file|git)|replace\s+\S*testify\S*\s*=>|["']?resolved["']?\s*:\s*["']file:""",
    re.I,
)
DEPENDENCIES = re.compile(
    r"(?:^|/)(?:package\.json|pyproject\.toml|requirements[^/]*\.(?:txt|in|lock)|Pipfile|Cargo\.toml|go\.mod|Gemfile|composer\.json|setup\.(?:py|cfg)|[^/]*lock(?:\.json|\.yaml)?)$"
)
CI = re.compile(
    r"(?:^|/)(?:\.github/workflows/[^/]+|\.gitlab-ci\.ya?ml|\.circleci/[^/]+|Jenkinsfile|azure-pipelines\.ya?ml|\.travis\.yml|\.drone\.yml|bitbucket-pipelines\.yml|appveyor\.yml|\.buildkite/[^/]+|\.ci/[^/]+)$"
)
CI_EXCUSES = re.compile(
    r"\|\|\s*(?:true|:|exit 0)|continue-on-error:\s*true|allow_failure:\s*true|^if:\s*(?:false|\$\{\{\s*false)|exit 0|\[skip ci\]|--passWithNoTests|when:\s*(?:never|manual)|set \+e"
)
BUILD_FILES = re.compile(
    r"(?:^|/)(?:pom\.xml|build\.gradle(?:\.kts)?|settings\.gradle(?:\.kts)?|build\.sbt|CMakeLists\.txt|meson\.build|BUILD(?:\.bazel)?|mix\.exs|Package\.swift|Rakefile|noxfile\.py|gradle\.properties|\.mvn/[^/]+|junit-platform\.properties|[^/]+\.csproj|test_helper\.(?:rb|exs)|spec_helper\.rb|rails_helper\.rb)$"
)
BUILD_EXCUSES = re.compile(
    r"skipTests|maven\.test\.skip|testFailureIgnore|ignoreFailures|failIfNoTests|<excludes?>|\bexclude\b|enabled\s*=\s*false|\bonlyIf\b|excludeTestsMatching|includeTestsMatching|excludeTags|filter_run|filter_run_excluding|"
    r"WILL_FAIL|DISABLED\b|should_fail|\bmanual\b|exclude:|test_paths|IsTestProject>false|VSTestTestCaseFilter|c\.exclusion_filter|fail_if_no_examples|--gtest_filter|--run_test|--test-case=|--filter\b|junit\.jupiter\.conditions|-Dtest=|-Dgroups|[eE]xcludedGroups|<groups>|<skip>|skipITs|--fail-never|-fn\b|-x test\b|--exclude-task|failure_exit_code|ExUnit\.configure|-DskipTests",
)
MODULE_FILES = ("go.mod", "go.work", "WORKSPACE", "MODULE.bazel", ".bazelignore", "mix.exs")
DEPENDENCY_LEFT_OUT = re.compile(r"exclude\W+(?:group|module)\b")


def surrounding_tricks(change: Change) -> list[Objection]:
    return [*_test_data(change), *_links(change), *_dependencies(change), *_pipelines(change), *_git(change)]


def _test_data(change: Change) -> Iterator[Objection]:
    if not is_test_data(change.old_name) or change.status == "A" or change.before is None:
        return
    if change.name != change.old_name and change.before == change.after:
        return
    if change.status == "D":
        yield Objection(
            "data", change.old_name, f"{change.old_name}, which tests compare with or read, was deleted"
        )
    elif change.after is not None and not keeps(change.before, change.after, change.name):
        yield Objection("data", change.name, f"{change.name}, which tests compare with or read, was changed")


def keeps(before: str, after: str, name: str) -> bool:
    """Whether everything that was in the data is still in it."""
    if name.endswith((".json", ".jsonc")):
        try:
            return _within(json.loads(before), json.loads(after))
        except (ValueError, RecursionError):
            return _lines(before) <= _lines(after)
    return _lines(before) <= _lines(after)


def _lines(text: str) -> Counter[str]:
    return Counter(line.strip().rstrip(",") for line in text.splitlines() if line.strip())


def _within(old: Any, new: Any) -> bool:  # noqa: ANN401
    if isinstance(old, dict):
        return isinstance(new, dict) and all(
            key in new and _within(value, new[key]) for key, value in old.items()
        )
    if isinstance(old, list):
        return isinstance(new, list) and all(value in new for value in old)
    return bool(old == new)


def _links(change: Change) -> Iterator[Objection]:
    if change.mode in ("120000", "160000") and (is_test(change.name) or change.status == "T"):
        what = "a link" if change.mode == "120000" else "a submodule"
        yield Objection(
            "linked", change.name, f"{change.name} is now {what}: what it holds can change without a commit"
        )


def _dependencies(change: Change) -> Iterator[Objection]:
    if DEPENDENCIES.search(change.name) and change.after is not None:
        for line in added_lines(change.before or "", change.after, change.name):
            if REPLACED_RUNNER.search(line):
                yield Objection(
                    "config",
                    change.name,
                    f"{change.name} takes a test tool from somewhere else: {line[:120]}",
                )


def _pipelines(change: Change) -> Iterator[Objection]:
    for kind, excuses in ((CI, CI_EXCUSES), (BUILD_FILES, BUILD_EXCUSES)):
        if not kind.search(change.name) and not kind.search(change.old_name):
            continue
        if change.status == "D":
            yield Objection("config", change.old_name, f"{change.old_name} was deleted")
        for line in added_lines(change.before or "", change.after or "", change.name):
            if excuses.search(line) and not DEPENDENCY_LEFT_OUT.search(line):
                yield Objection(
                    "config",
                    change.name,
                    f"{change.name} now excuses failures or leaves tests out: {line[:120]}",
                )


def cut_off(changes: Sequence[Change], known: Callable[[], Sequence[str]]) -> Iterator[Objection]:
    """A new module file takes its whole folder out of what the runner walks through."""
    for change in changes:
        folder, _, name = change.name.rpartition("/")
        if change.status == "A" and name in MODULE_FILES and folder:
            tests = [one for one in known() if one.startswith(f"{folder}/") and is_test(one)]
            if tests:
                text = f"{change.name} is new: the runner no longer comes to {tests[0]}"
                yield Objection("config", change.name, text)


def _git(change: Change) -> Iterator[Objection]:
    if change.name.rpartition("/")[2] == ".gitattributes":
        for line in added_lines(change.before or "", change.after or "", "x.sh"):
            if re.search(r"\b(?:filter|ident|working-tree-encoding)=?", line) and "filter=lfs" not in line:
                yield Objection(
                    "git",
                    change.name,
                    f"{change.name} has git hand out other content than is committed: {line[:120]}",
                )
