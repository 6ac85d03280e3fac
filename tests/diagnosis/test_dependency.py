"""What is missing is somebody else's: a dependency. What is missing is ours: a code error."""

from __future__ import annotations

import pytest

from buildloop.diagnosis.classify import diagnose
from buildloop.diagnosis.model import Attempt, FailureMode
from buildloop.gate.read import read_text
from tests.diagnosis.builders import log

THEIRS = [
    # Python
    "ModuleNotFoundError: No module named 'django'",
    "/usr/bin/python3: No module named pytest",
    "E   ModuleNotFoundError: No module named 'distutils'",
    "E   ModuleNotFoundError: No module named 'flask.ext'",
    "E   ImportError: cannot import name 'soft_unicode' from 'markupsafe' "
    "(/v/lib/python3.10/site-packages/markupsafe/__init__.py)",
    "E   ImportError: libGL.so.1: cannot open shared object file: No such file or directory",
    "ERROR: No matching distribution found for foo==2.0",
    "Because app depends on requests (^99.0) which doesn't match any versions, version solving failed.",
    "error: Failed to fetch: `https://pypi.org/simple/requests/`",
    "pyproject.toml changed significantly since poetry.lock was last generated. Run `poetry lock` to fix "
    "the lock file.",
    "PackagesNotFoundError: The following packages are not available from current channels:",
    # Node
    "npm ERR! code ERESOLVE",
    "npm error code EINTEGRITY",
    ' ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile" because pnpm-lock.yaml is not up '
    'to date',
    'error Couldn\'t find package "nope-xyz" on the "npm" registry.',
    "error Your lockfile needs to be updated, but yarn was run with `--frozen-lockfile`.",
    "➤ YN0028: │ The lockfile would have been modified by this install, which is explicitly forbidden.",
    "Error: Cannot find module 'express'",
    "Error: Cannot find module '../build/Release/canvas.node'\nRequire stack:\n- "
    "/app/node_modules/canvas/lib/bindings.js",
    "src/App.tsx:3:19 - error TS2307: Cannot find module 'react-router-dom' or its corresponding type "
    "declarations.",
    "Module not found: Error: Can't resolve 'lodash' in '/home/u/app/src'",
    '[vite]: Rollup failed to resolve import "axios" from "/app/src/api.ts".',
    '✘ [ERROR] Could not resolve "react"',
    'ESLint couldn\'t find the plugin "eslint-plugin-react".',
    "  Preset ts-jest not found relative to rootDir /app.",
    "sh: 1: vitest: not found",
    # Go
    "main.go:4:2: no required module provides package github.com/google/uuid; to add it:",
    "go: go.mod requires go >= 1.23.0 (running go 1.21.5; GOTOOLCHAIN=local)",
    "verifying github.com/foo/bar@v1.0.0: checksum mismatch",
    "main.go:4:2: package maps is not in std (/usr/local/go/src/maps)",
    "main.go:5:2: missing go.sum entry for module providing package golang.org/x/sync/errgroup; to add:",
    # Rust
    "error[E0463]: can't find crate for `serde_derive`",
    "error[E0432]: unresolved import `regex`\n  |     ^^^^^ use of unresolved module or unlinked crate "
    "`regex`",
    "error: failed to select a version for `serde`.",
    "error: linker `cc` not found",
    "error: failed to run custom build command for `openssl-sys v0.9.99`",
    # JVM
    "   > Could not find com.google.guava:guava:99.0.",
    "Unsupported class file major version 65",
    "src/main/java/com/shop/Main.java:3: error: package org.apache.commons.lang3 does not exist",
    'Exception in thread "main" java.lang.ClassNotFoundException: org.postgresql.Driver',
    # C
    "  Could NOT find OpenSSL, try to set the path to OpenSSL root folder in the",
    "/usr/bin/ld: cannot find -lgsl: No such file or directory",
    'a.c:3:10: fatal error: hiredis/hiredis.h: No such file or directory\n    3 '
    '| #include <hiredis/hiredis.h>',
    'meson.build:12:0: ERROR: Dependency "gtk4" not found, tried pkgconfig and cmake',
    "./app: error while loading shared libraries: libfoo.so.1: cannot open shared object file: No such "
    "file or directory",
    # Ruby, PHP, Perl, others
    "Could not find rake-13.0.6, minitest-5.18.0 in locally installed gems",
    "Your Ruby version is 3.1.2, but your Gemfile specified 3.3.0",
    "<internal:/usr/lib/ruby/rubygems/core_ext/kernel_require.rb>:85:in `require': cannot load such file "
    "-- pg (LoadError)",
    "Your requirements could not be resolved to an installable set of packages.",
    'Error: Class "Monolog\\Logger" not found',
    "Can't locate Moose.pm in @INC (you may need to install the Moose module) (@INC contains: /etc/perl) "
    "at lib/App.pm line 3.",
    "/app/app.csproj : error NU1101: Unable to find package Foo.Bar.",
    "Error in library(dplyr) : there is no package called ‘dplyr’",
    "** (Mix) Can't continue due to errors on dependencies",
    # Commands and systems
    "./scripts/build.sh: line 4: jq: command not found",
    "/usr/bin/env: ‘node’: No such file or directory",
    "make: protoc: No such file or directory",
    "E: Unable to locate package libfoo-dev",
    "failed to solve: python:3.99: failed to resolve source metadata for docker.io/library/python:3.99: "
    "not found",
]  # fmt: skip

OURS = [
    '  File "/srv/app/myproj/settings.py", line 2, in <module>\nModuleNotFoundError: No module named '
    '\'myproj.secrets\'',
    "E   ImportError: cannot import name 'parse_config' from 'myapp.config' (/w/myapp/config.py)",
    "E   ModuleNotFoundError: No module named 'helpers'",
    "Cannot find module './utlis' from 'src/cart.js'",
    "Error: Cannot find module '/home/u/app/dist/server.js'",
    "src/App.tsx:3:19 - error TS2307: Cannot find module '@/components/Button' or its corresponding type "
    "declarations.",
    "Module not found: Error: Can't resolve './util/fmt.js' in '/home/u/app/src'",
    "error[E0432]: unresolved import `crate::foo`\n  |     ^^^^^^^^^^ no `foo` in the root",
    "error[E0432]: unresolved import `tax::vat_rate`\n  |     ^^^^^^^^^^^^^ no `vat_rate` in `tax`",
    "error[E0583]: file not found for module `tax`",
    "error[E0433]: failed to resolve: use of undeclared type `HashMap`",
    "cmd/main.go:6:2: no required module provides package "
    "github.com/acme/svc/tax\nFAIL\tgithub.com/acme/svc/cmd [setup failed]",
    "main.go:4:2: package myapp/internal/config is not in std (/usr/local/go/src/myapp/internal/config)",
    "src/main/java/com/shop/Main.java:3: error: package com.shop.util does not exist",
    'a.c:3:10: fatal error: parser/lex.h: No such file or directory\n    3 | #include "parser/lex.h"',
    "  cannot load such file -- /app/lib/nope",
    'Error: Class "App\\Services\\Tax" not found',
    "Can't locate Core/Rates.pm in @INC (you may need to install it) at lib/Core.pm line 3.",
    "bash: ./scripts/missing.sh: No such file or directory",
    "main.c:(.text+0x9): undefined reference to `helper'",
    "error CS0246: The type or namespace name 'TaxTable' could not be found",
    "E   resolver.VersionConflict: version conflict: package a not found in 1",
    "LookupError: package of 2 kg not found",
    "E       assert \"ImportError: No module named 'no_such_plugin_x'\" is None",
    "E   FileNotFoundError: [Errno 2] No such file or directory: 'settings'",
]  # fmt: skip


@pytest.mark.parametrize("text", THEIRS)
def test_somebody_elses(text):
    assert diagnose(log(text)).mode is FailureMode.DEPENDENCY_ISSUE


@pytest.mark.parametrize("text", OURS)
def test_our_own(text):
    assert diagnose(log(text)).mode is FailureMode.CODE_ERROR


def test_names_that_the_caller_knows_are_ours():
    history = log("E   ModuleNotFoundError: No module named 'billing'")
    assert diagnose(history).mode is FailureMode.DEPENDENCY_ISSUE
    assert diagnose(history, first_party=["billing"]).mode is FailureMode.CODE_ERROR


def test_names_in_the_repository_are_ours(tmp_path):
    (tmp_path / "src" / "billing").mkdir(parents=True)
    (tmp_path / "src" / "billing" / "core.py").touch()
    history = log("E   ModuleNotFoundError: No module named 'billing'")
    assert diagnose(history, repo=tmp_path).mode is FailureMode.CODE_ERROR


def test_a_command_that_could_not_be_started():
    started = "render.py:5: in render\n/usr/lib/python3.11/subprocess.py:1950: in _execute_child\n"
    line = "E   FileNotFoundError: [Errno 2] No such file or directory: 'pandoc'"
    assert diagnose(log(started + line)).mode is FailureMode.DEPENDENCY_ISSUE
    assert diagnose(log(line)).mode is FailureMode.CODE_ERROR


COMPLAINTS = [
    "ERROR: tensorflow 2.3.0 has requirement numpy<1.19.0, but you'll have numpy 1.19.1 which is "
    "incompatible.",
    "ModuleNotFoundError: No module named 'requests'",
    "-- Could NOT find Doxygen (missing: DOXYGEN_EXECUTABLE)",
    "npm warn ERESOLVE overriding peer dependency",
    "mysqld: Address already in use",
]
TESTED = """\
============================= test session starts ==============================
collected 3 items
tests/test_x.py .F.                                                      [100%]
=================================== FAILURES ===================================
____________________________________ test_b ____________________________________
>       assert 1 == 2
E       assert 1 == 2
tests/test_x.py:9: AssertionError
=========================== short test summary info ============================
FAILED tests/test_x.py::test_b - assert 1 == 2
========================= 1 failed, 2 passed in 0.10s ==========================
"""


@pytest.mark.parametrize("complaint", COMPLAINTS)
def test_what_the_tests_got_past_did_not_make_them_fail(complaint):
    assert diagnose(log(f"{complaint}\n{TESTED}")).mode is FailureMode.CODE_ERROR


def test_a_reading_without_a_scan_is_judged_by_its_lines():
    history = [Attempt(False, read_text("E   ModuleNotFoundError: No module named 'redis'\n", 1))]
    assert diagnose(history).mode is FailureMode.DEPENDENCY_ISSUE
