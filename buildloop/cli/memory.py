"""`buildloop memory`: look at what earlier runs learned, take things out again, hand it over."""

from __future__ import annotations

import os
import re
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from typer import Argument, Option

from buildloop.cli.options import AsJson, Text
from buildloop.cli.output import console, print_json
from buildloop.cli.usage import Command, Group, show_help
from buildloop.errors import InputError

if TYPE_CHECKING:
    from buildloop.memory.location import Location
    from buildloop.memory.model import Record, SimilarFailure
    from buildloop.memory.store import Store

memory = typer.Typer(help="What earlier runs learned: search it, look after it.", cls=Group)

Repo = Annotated[Path, Option("--repo", help="The repository whose memory is meant.")]
Everything = Annotated[bool, Option("--all", help="All repositories, not only this one.")]
AGE = re.compile(r"(\d{1,5})([dwmy])")
DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


memory.callback(invoke_without_command=True)(show_help)


@memory.command(cls=Command)
def search(
    error: Annotated[str, Argument(help="Error text, or - to read a log from standard input.")],
    repo: Repo = Path(),
    everywhere: Everything = False,
    most: Annotated[int, Option("--max", min=1, max=50, help="Most results.")] = 3,
    as_json: AsJson = False,
) -> None:
    """Find failures like this one, with the fixes that worked."""
    from buildloop.memory.recall import Scope, similar_failures
    from buildloop.memory.store import LOOKUP_SECONDS

    text = sys.stdin.read() if error == "-" else error
    if not text.strip():
        raise InputError("there is no error text to search for; give some, or pipe a log in with -")
    scope = Scope("" if everywhere else repo_identity(repo), shared=everywhere)
    with closing(opened(LOOKUP_SECONDS)) as store, store.within(LOOKUP_SECONDS):
        found = similar_failures(store, text, most, scope)
    if as_json:
        print_json([one.model_dump(mode="json") for one in found])
        return
    screen = console()
    if not found:
        hint = "" if everywhere else " in this repository; try --all"
        screen.print(f"nothing like it was seen before{hint}", markup=False)
    for one in found:
        _tell(screen, one)


@memory.command(cls=Command)
def stats(as_json: AsJson = False) -> None:
    """Say where memory is, how much is in it, and whether its suggestions help."""
    from buildloop.memory.upkeep import stats as collect

    place = located()
    with closing(opened()) as store:
        found = collect(store)
    if as_json:
        print_json({"location": place.shown, **found.model_dump(mode="json")})
        return
    screen = console()
    screen.print(f"{place.shown} (schema {found.schema_version}, {found.bytes / 1e6:.1f} MB)", markup=False)
    screen.print(
        f"{found.failures} failures seen {found.sightings} times in {found.runs} runs on {found.repos} repositories"
    )
    screen.print(
        f"{found.fixes} confirmed fixes, {found.suggestions} suggestions ({found.open_suggestions} open)"
    )
    if not found.classes:
        return
    table = Table(box=None, pad_edge=False)
    for title in ("class", "failures", "went green next", "with a known fix shown"):
        table.add_column(title)
    for one in found.classes:
        table.add_row(one.error_class, str(one.failures), _rate(one.overall), _rate(one.with_fix))
    screen.print(table)


@memory.command(cls=Command)
def forget(
    repo: Annotated[Optional[Path], Option("--repo", help="What was learned on this repository.")] = None,  # noqa: UP045
    fingerprint: Annotated[Text, Option(help="The failure with this fingerprint.")] = None,
    run: Annotated[Text, Option("--run", help="What only this run has met, and the fixes it found.")] = None,
    older_than: Annotated[
        Text, Option("--older-than", metavar="AGE", help="Not seen for so long: 90d, 12w, 6m, 1y.")
    ] = None,
    everything: Annotated[bool, Option("--everything", help="All of it.")] = False,
    yes: Annotated[bool, Option("--yes", "-y", help="Do not ask.")] = False,
    dry_run: Annotated[bool, Option("--dry-run", help="Only say how much it would be.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take failures out of memory, with their fixes and suggestions. Conditions narrow each other."""
    from buildloop.memory.upkeep import Selection, count_selected
    from buildloop.memory.upkeep import forget as take_out

    selection = Selection(
        repo=repo_identity(repo) if repo else None,
        fingerprint=fingerprint,
        run=run,
        before=_seconds_ago(older_than) if older_than else None,
    )
    if (selection == Selection()) != everything:
        raise InputError(
            "say what to forget: --repo, --fingerprint, --run or --older-than; or --everything, alone"
        )
    with closing(opened()) as store:
        count = count_selected(store, selection)
        if dry_run:
            _say(f"{count} failures would be forgotten", {"would_forget": count}, as_json=as_json)
            return
        if not yes and not typer.confirm(f"Forget {count} failures, with their fixes?", err=True):
            raise typer.Abort
        forgotten = take_out(store, selection)
    _say(f"{forgotten} failures forgotten", {"forgotten": forgotten}, as_json=as_json)


@memory.command(cls=Command)
def export(
    file: Annotated[
        Optional[Path],  # noqa: UP045
        Argument(help="Where to write. [default: standard output]"),
    ] = None,
    repo: Annotated[Optional[Path], Option("--repo", help="Only this repository.")] = None,  # noqa: UP045
) -> None:
    """Write failures with their fixes as JSON lines."""
    from buildloop.files import write_atomic
    from buildloop.memory.upkeep import Selection, exported

    if file is not None and not file.absolute().parent.is_dir():
        raise InputError(f"there is no folder {file.absolute().parent}; make it first, or name another file")
    selection = Selection(repo=repo_identity(repo) if repo else None)
    with closing(opened()) as store:
        lines = (one.model_dump_json() for one in exported(store, selection))
        if file is None:
            for line in lines:
                print(line)
            return
        text = "".join(f"{line}\n" for line in lines)
    try:
        write_atomic(file, text)
    except OSError as error:
        raise InputError(f"{file} cannot be written: {error.strerror}") from None
    console(stderr=True).print(f"{len(text.splitlines())} failures written to {file}", markup=False)


def located() -> Location:
    from buildloop.memory.location import memory_location

    return memory_location(os.environ)


def opened(seconds: float | None = None) -> Store:
    """The store, or the reason why there is none as a sentence."""
    from buildloop.memory.location import VARIABLE, Kind
    from buildloop.memory.store import WRITE_SECONDS, open_store

    place = located()
    if place.kind is Kind.OFF:
        raise InputError(f"memory is switched off by {VARIABLE}=off; unset it to use memory")
    return open_store(place, seconds or WRITE_SECONDS)


def repo_identity(path: Path) -> str:
    from buildloop.workspace.repository import open_repository

    return open_repository(path).repo_id


def _say(sentence: str, facts: dict[str, int], *, as_json: bool) -> None:
    if as_json:
        print_json(facts)
    else:
        console().print(sentence, markup=False)


def _seconds_ago(age: str) -> int:
    found = AGE.fullmatch(age)
    if found is None:
        raise InputError(f"--older-than {age!r} is not an age; write it like 90d, 12w, 6m or 1y")
    return int((datetime.now(UTC) - timedelta(days=int(found[1]) * DAYS[found[2]])).timestamp())


def _rate(record: Record) -> str:
    return f"{record.worked} of {record.tried}" if record.tried else "-"


def _tell(screen: Console, one: SimilarFailure) -> None:
    alike = "the same failure" if one.exact else f"{one.relevance:.0%} alike"
    times = "once" if one.seen == 1 else f"{one.seen} times"
    screen.print(f"[bold]{escape(one.message)}[/bold]")
    if one.test:
        screen.print(f"  {one.test}", markup=False)
    screen.print(
        f"  {alike} · {one.error_class} · {one.mode} · seen {times}, last {one.last_seen[:10]} in run {one.last_run} · "
        f"{one.fingerprint}",
        markup=False,
    )
    for fix in one.fixes:
        faded = ", faded: no longer suggested" if fix.faded else ""
        screen.print(f"  fix {fix.id}: {fix.record.in_words}{faded}", markup=False)
        if fix.change.approach:
            screen.print(f"    {fix.change.approach}", markup=False)
        for line in fix.change.summary.splitlines():
            screen.print(f"    | {line}", markup=False)
