"""What package managers say when they fail, told apart: nobody answered, or a dependency is wrong."""

from __future__ import annotations

import pytest

from buildloop.recovery.complaints import is_unreachable, wrong_dependencies

WRONG = {
    "pip, version": (
        "ERROR: Could not find a version that satisfies the requirement foo==9.9 (from versions: 1.0, 2.0)\n"
        "ERROR: No matching distribution found for foo==9.9\n",
        ("foo==9.9 (there is: 1.0, 2.0)", "foo==9.9"),
    ),
    "pip, conflict": (
        "ERROR: Cannot install a==1 and b==2 because these package versions have conflicting dependencies.\n\n"
        "The conflict is caused by:\n    a 1 depends on x>=2\n    The user requested x<2\n",
        ("a 1 depends on x>=2", "The user requested x<2"),
    ),
    "uv": (
        "  × No solution found when resolving dependencies:\n"
        "  ╰─▶ Because there is no version of foo==9.9 and you require foo==9.9,\n"
        "      we can conclude that your requirements are unsatisfiable.\n",
        ("foo==9.9",),
    ),
    "uv, unknown": (
        "  ╰─▶ Because foo was not found in the package registry and you require foo\n",
        ("foo",),
    ),
    "poetry": (
        "Because shop depends on foo (^9.9) which doesn't match any versions, version solving failed.\n",
        ("foo (^9.9)",),
    ),
    "npm, version": (
        "npm error code ETARGET\nnpm error notarget No matching version found for left-pad@^99.0.0.\n",
        ("left-pad@^99.0.0",),
    ),
    "npm, unknown": (
        "npm error code E404\nnpm error 404  'no-such-thing@^1.0.0' is not in this registry.\n",
        ("no-such-thing@^1.0.0",),
    ),
    "npm, ERESOLVE": (
        "npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree\nnpm error\n"
        "npm error Found: react@18.2.0\nnpm error Could not resolve dependency:\n"
        'npm error peer react@"^17.0.0" from widget@1.2.3\n',
        ('peer react@"^17.0.0" from widget@1.2.3',),
    ),
    "npm ci": (
        "npm error `npm ci` can only install packages when your package.json and package-lock.json are in sync.\n"
        "npm error Missing: foo@1.0.0 from lock file\n",
        ("foo@1.0.0 from lock file",),
    ),
    "pnpm": (
        " ERR_PNPM_NO_MATCHING_VERSION  No matching version found for foo@99.0.0 while fetching it from x\n",
        ("foo@99.0.0",),
    ),
    "yarn classic": (
        'error Couldn\'t find any versions for "foo" that matches "99.0.0"\n',
        ("foo 99.0.0",),
    ),
    "yarn berry": ("➤ YN0082: │ foo@npm:99.0.0: No candidates found\n", ("foo@npm:99.0.0",)),
    "cargo, version": (
        'error: failed to select a version for the requirement `serde = "^99"`\n',
        ('serde = "^99"',),
    ),
    "cargo, unknown": ("error: no matching package named `nope` found\n", ("nope",)),
    "go": (
        "go: example.com/x@v9.9.9: invalid version: unknown revision v9.9.9\n",
        ("example.com/x@v9.9.9",),
    ),
    "bundler": ("Could not find gem 'foo (= 9.9)' in any of the sources\n", ("foo (= 9.9)",)),
    "maven": (
        "[ERROR] Could not find artifact com.acme:foo:jar:9.9 in central (https://repo)\n",
        ("com.acme:foo:jar:9.9",),
    ),
    "composer": (
        "    - Root composer.json requires acme/foo ^9.9, found acme/foo[1.0] but it does not match\n",
        ("acme/foo ^9.9",),
    ),
    "dotnet": (
        "error NU1102: Unable to find package Foo with version (>= 9.9.0)\n",
        ("Foo with version (>= 9.9.0)",),
    ),
}


@pytest.mark.parametrize("tool", WRONG)
def test_the_wrong_dependency_is_named_with_its_constraint(tool):
    text, named = WRONG[tool]
    assert wrong_dependencies(text) == named
    assert not is_unreachable(text)


@pytest.mark.parametrize(
    "text",
    [
        "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError: Failed to establish a new "
        "connection: [Errno -3] Temporary failure in name resolution'\n"
        "ERROR: No matching distribution found for foo==1.0",
        "npm error code ENOTFOUND\nnpm error network request to https://registry failed",
        "npm error code ECONNREFUSED",
        "error: Request failed after 3 retries\n  Caused by: error sending request for url (https://x)",
        "fatal: Could not resolve host: github.com",
        'go: example.com/x@v1.0.0: Get "https://proxy": dial tcp: lookup proxy: no such host',
        "Could not transfer artifact a:b:pom:1 from/to central: Unknown host repo.maven.apache.org",
        "503 Service Unavailable",
    ],
)
def test_a_registry_that_did_not_answer_may_answer_later(text):
    assert is_unreachable(text)


def test_a_list_of_versions_is_an_answer_whatever_was_retried_before():
    text = (
        "WARNING: Retrying after connection broken by 'Read timed out'\n"
        "ERROR: Could not find a version that satisfies the requirement foo==9.9 (from versions: 1.0)"
    )
    assert not is_unreachable(text)
