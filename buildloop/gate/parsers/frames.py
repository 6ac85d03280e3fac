"""Places in source code: which belong to the project, and which to a library, a runtime or a test runner."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from buildloop.patterns import Regex


class Frame(NamedTuple):
    """One place in a stack; `line` is None when the stack names only the file."""

    file: str
    line: int | None
    function: str = ""


FOREIGN = Regex(
    r"""site-packages|dist-packages|node_modules|lib/python\d|\.pyenv/|/pyenv/|\.venv/|miniconda|hostedtoolcache|<frozen|<string>|<stdin>
    |^node:|^internal/|\(internal/|webpack/bootstrap|\.yarn/|/\.pnpm/|/\.npm/|\.nvm/|package:(?:test|flutter|matcher|stack_trace|async)|bun:|ext:|deno:|https?://
    |/rustc/|\.cargo/|\.rustup/|/rustlib/|^library/(?:std|core|alloc|test)|/pkg/mod/|/go(?:-[\d.]+)?/src/|libexec/src|_testmain\.go
    |/goroot/|^(?:testing|runtime|reflect|sync|net/http)/|^testing\.go$|^asm_amd64\.s$
    |\.m2/|\.gradle/|/gems/|/rubygems|/lib/ruby/|bin/(?:rspec|rake|bundle|ruby)$|<internal:|^vendor/|/vendor/(?!.*src/)|phar://
    |/usr/(?:share|lib|include|local/lib|bin)/|/opt/homebrew|/nix/store|/Library/|^\.\./(?:sysdeps|csu|nptl)|sysdeps/
    |libsanitizer|compiler-rt|/perl5?/|perl-base|gtest|googletest|catch2|/jest-|/mocha/|/vitest/
    |\\Program\ Files|/_/src/|/dotnet/|Native\ Method|Unknown\ Source|<generated>|^\(eval|eval\ at""",
    re.VERBOSE,
)
FOREIGN_PACKAGE = Regex(
    r"^(?:app//|platform//|java\.base/)?(?:java|javax|jdk|sun|com\.sun|kotlin|kotlinx|scala|groovy|clojure"
    r"|akka|junit"
    r"|org\.(?:junit|apache|gradle|codehaus|hamcrest|mockito|assertj|testng|springframework|hibernate"
    r"|scalatest|scalactic"
    r"|opentest4j|slf4j|eclipse|mockk|spockframework|jetbrains|jboss|objenesis)|com\.(?:google|intellij"
    r"|fasterxml|zaxxer)"
    r"|io\.(?:netty|mockk|kotest|micronaut|quarkus|vertx)|net\.bytebuddy|reactor|worksheet|munit|sbt|xsbt"
    r"|System"
    r"|Microsoft|Xunit|NUnit|MSTest|FluentAssertions|Moq|Castle)\."
)


def is_foreign(file: str) -> bool:
    return FOREIGN.search(file) is not None


def is_foreign_package(qualified: str) -> bool:
    return FOREIGN_PACKAGE.match(qualified) is not None


def innermost(frames: Iterable[Frame]) -> Frame | None:
    """The first frame of the project's own code; `frames` go from the error outwards.

    None when there is none: a line of a library is no place to send anybody to.
    """
    return next((frame for frame in frames if not is_foreign(frame.file)), None)


BUNDLED = Regex(r"webpack(?:-internal)?://[^/]*/(?:\./)?")


def tidy(file: str) -> str:
    """A path as a person would write it: no `file://`, no leading `./`."""
    return BUNDLED.sub("", file).removeprefix("file://").removeprefix("app//").removeprefix("./")
