"""Whether a failure keeps the rest of a command from running: then "nothing else failed" means nothing."""

from __future__ import annotations

import re

from buildloop.recovery.rerun.shell_words import plain_command

# The options by which test runners stop at their first failures.
FAIL_FAST = re.compile(
    r"-x$|--exitfirst$|--maxfail\b"  # pytest
    r"|-f$|--failfast$|-failfast$|--fail-fast\b|--stop-on-\w+$"  # unittest, go, rspec, phpunit, ctest
    r"|--bail\b|-b$"  # jest, mocha, vitest
)
OWN_MEANING = {"-f": ("unittest",), "-b": ("mocha",), "-x": ("pytest", "py.test", "nose2")}


def may_stop_early(command: str) -> bool:
    """A list with `&&` stops at its first red part; a runner stops where it was told to."""
    plain = plain_command(command)
    if plain is None:
        return "&&" in command
    values = [word.value for word in plain.words]
    names = {word.name for word in plain.words}
    return any(
        FAIL_FAST.match(value) and (value not in OWN_MEANING or names & {*OWN_MEANING[value]})
        for value in values
    )
