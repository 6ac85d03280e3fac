"""What to do about each class of error, and at each stage, where nothing better is known. Tables; a test says that
they are complete. The order is the order of first use; after that their records decide."""

from __future__ import annotations

from collections.abc import Mapping

from buildloop.diagnosis.model import ErrorClass

CLASS_ADVICE: Mapping[ErrorClass, tuple[str, ...]] = {
    ErrorClass.FILE_ACCESS: (
        "Check that the path the error names exists in the repository and is written the same way, "
        "capital letters included.",
        "Build the path from the place of the source file, not from the working directory.",
        "If the program makes this file itself, find out why that step did not run before this one.",
        "If it says permission denied, check the mode of the file and of its folder, and who runs the command.",
    ),
    ErrorClass.FUNCTION_ERROR: (
        "Find where the name is defined and compare spelling, export and import with the place that uses it.",
        "Check what the value really is at the failing line: it may be undefined or of another type there.",
        "If it was renamed or moved, search for all other uses of the old name and change them together.",
        "If a command was not found, check that it is installed and on PATH of the gate.",
    ),
    ErrorClass.SYNTAX_ERROR: (
        "Open the file at the line the parser names and look at the line above too: an open bracket or quote "
        "is reported where it was missed.",
        "Undo the last edit of that file if it left half a change behind, and make it again in one piece.",
        "Check that the syntax is allowed by the language version the gate runs with.",
    ),
    ErrorClass.ASSERTION_FAILURE: (
        "Compare expected and actual value, and trace the actual one back to the line that computes it.",
        "Read the test to learn what is meant; change the code, not the expectation.",
        "Look at edges: first and last element, empty input, limits that count themselves, signs, rounding.",
        "If several tests fail with the same difference, look for the one function they all call.",
    ),
    ErrorClass.TYPE_ERROR: (
        "Compare the call with the signature: number, order, names and types of the arguments.",
        "Find where None or a value of the wrong type comes from, and mend it there, not where it is used.",
        "If a signature was changed, change all callers with it.",
    ),
    ErrorClass.TIMEOUT: (
        "Find what it waits for at the end of the log: a loop that does not end, a lock, a server, an answer.",
        "Check that every loop on the way makes progress and has an end.",
        "Run the one slow test alone; if it passes, look for what other tests leave behind.",
        "Give waits on other processes a limit of their own, so that the reason is named.",
    ),
    ErrorClass.MEMORY_ERROR: (
        "Look for a recursion without an end or a collection that only grows.",
        "Read large input piece by piece instead of holding all of it.",
        "If a process was killed, run the failing test alone and watch its memory.",
    ),
    ErrorClass.NETWORK_ERROR: (
        "Check that the address and port are those of a server the test starts itself, and that it is up "
        "before the first request.",
        "Replace calls to the outside world in tests by a local server or a recorded answer.",
        "If the port is taken, let the system choose a free one (port 0).",
    ),
    ErrorClass.RESOURCE_ERROR: (
        "Free what is used up: close files and connections, remove temporary files, end child processes.",
        "Check disk space, open files and process limits on this machine.",
        "If a quota or rate limit is named, wait for its reset or lower the demand.",
    ),
    ErrorClass.UNKNOWN: (
        "Read the whole output of the first command that failed, from the first error downwards.",
        "Run the failing command by itself, with more output, and note the first line that is wrong.",
        "Compare with the last state that worked: what changed since then is the first suspect.",
    ),
}

STAGE_ADVICE: Mapping[str, str] = {
    "install": "Install from the lock file; change declared versions only if the resolver names a conflict.",
    "build": "Make it compile first: errors further down often follow from the first one.",
    "lint": "Let the tool's own fixer do what it can, then mend the rest by hand; do not switch rules off.",
    "test": "Run the failing test alone until it passes, then the whole gate once.",
    "baseline": "It failed before anything was changed: check the environment before the code.",
    "verify": "It passed once and failed in the proof: look for leftovers and order between tests.",
    "accept": "The gate is green, the acceptance command is not: read what it demands beyond the tests.",
    "agent": "Make the next step smaller, and say what is done in one sentence.",
    "review": "Answer each finding with a change or a reason.",
    "deploy": "Compare configuration and secrets of the target with those of the last deployment that worked.",
}
ANY_STAGE = "Make the smallest change that explains the failure, then run the gate."
