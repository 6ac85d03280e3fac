"""`buildloop diagnose`: why a log is red, for a person or, line by line, for a program."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import NoReturn, TextIO

from buildloop.diagnosis.classify import diagnose
from buildloop.diagnosis.explain import explain
from buildloop.diagnosis.model import Attempt, LogReading
from buildloop.diagnosis.observe import observe_log, observe_text
from buildloop.diagnosis.protocol import BadRequestError, answer, error_lines, log_answer

BAD_INPUT = 2
HELP_WIDTH = 100


def main(argv: list[str]) -> int:
    options = _parser().parse_args(argv)
    if options.jsonl:
        return run_batch(sys.stdin, sys.stdout)
    if not options.log:
        return _refuse("name a log file, or - to read one from standard input")
    repo = Path(options.repo) if options.repo else None
    if repo and not repo.is_dir():
        return _refuse(f"{repo} is not a folder")
    try:
        reading = _read(options.log)
    except OSError as error:
        return _refuse(f"cannot read {options.log}: {error.strerror or error}")
    diagnosis = diagnose([Attempt(passed=False, reading=reading)], repo=repo)
    if options.json:
        print(json.dumps(log_answer(reading, diagnosis), ensure_ascii=True))
    else:
        print(explain(reading, diagnosis, error_lines(reading, diagnosis), colour=_wants_colour(sys.stdout)))
    return 0


def run_batch(requests: Iterable[str], answers: TextIO) -> int:
    """One answer per request, in order, each written before the next request is read."""
    for line in requests:
        if line.strip():
            answers.write(json.dumps(_answer_line(line), ensure_ascii=True) + "\n")
            answers.flush()
    return 0


def _answer_line(line: str) -> dict[str, object]:
    try:
        request = json.loads(line)
    except (ValueError, RecursionError) as error:
        return {"id": None, "error": f"not a JSON object: {error}"}
    if not isinstance(request, dict):
        return {"id": None, "error": "not a JSON object"}
    try:
        return answer(request)
    except BadRequestError as error:
        return {"id": request.get("id"), "error": str(error)}
    except Exception as error:  # one log that trips us must not cost the answers to all others
        import traceback

        traceback.print_exc()
        return {"id": request.get("id"), "error": f"internal error: {type(error).__name__}: {error}"}


def _read(log: str) -> LogReading:
    if log == "-":
        return observe_text(sys.stdin.buffer.read().decode("utf-8", "replace"))
    return observe_log(Path(log))


def _wants_colour(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _refuse(sentence: str) -> int:
    print(f"buildloop diagnose: {sentence}", file=sys.stderr)
    return BAD_INPUT


class _Parser(argparse.ArgumentParser):
    """Bad input is one sentence, as everywhere."""

    def error(self, message: str) -> NoReturn:
        sys.exit(_refuse(f"{message} (see 'buildloop diagnose --help')"))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="buildloop diagnose",
        description="Explain why a gate is red, from its log.",
        # Asked for the width of the terminal, argparse loads half of the standard library, whatever the command.
        formatter_class=partial(argparse.HelpFormatter, width=HELP_WIDTH),
    )
    parser.add_argument("log", nargs="?", metavar="LOG", help="the log file, or - for standard input")
    parser.add_argument(
        "--repo", metavar="DIR", help="the project, to tell its own modules from dependencies"
    )
    parser.add_argument("--json", action="store_true", help="print the diagnosis as one JSON object")
    parser.add_argument(
        "--jsonl", action="store_true", help="answer JSON requests from standard input, one a line"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
