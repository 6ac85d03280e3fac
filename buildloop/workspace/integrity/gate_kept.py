"""Whether an edited gate still does everything it did, as strictly: the question that is left when the old gate is
green on the new code too. Then only what is lost for the future matters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from buildloop.workspace.integrity.gate_steps import Step, Steps, same_program, says, steps_in
from buildloop.workspace.integrity.makefiles import Makefile, reached
from buildloop.workspace.integrity.option_lines import HARMLESS_OPTIONS, SPEAKING_OPTIONS
from buildloop.workspace.integrity.readers.tokens import tokenize

NARROWING = re.compile(
    r"-k.*|-m|-t|-i|-n|-short|--?run(?:=.*)?|--?skip\S*|--ignore\S*|--?exclude\S*|--deselect\S*|--?filter\S*|--only\S*|--grep\S*|--match\S*"
    r"|--testNamePattern\S*|--testPathPattern\S*|--test-name-pattern\S*|--passWithNoTests|--lib|--bins?|--doc|-p|--package\S*|--collect-only|--co"
    r"|--listTests|--list|--no-run|--dry-run|--just-print|--version|--help|-h|--keep-going|--ignore-errors|--exit-zero|--exit-0|--no-verify|--warn-only"
    r"|--if-present|--tags?\S*|-tags\S*|--fail-never|--last-failed|--lf|--onlyChanged|-o|--changed\S*|--findRelatedTests|--shard\S*|-fn|-w|-Wno-\S+|-DNDEBUG"
)
BENDS = re.compile(
    r"set\s+\+\w*e|\balias\b|\bPATH=|trap\s.*(?:exit\s*0|:\s*['\"]\s*EXIT|true['\"])|\bunset\s+-f|^\s*-\s*\w"
)
PREFIXES = frozenset(
    "time env exec nice command timeout xvfb-run stdbuf npx poetry uv run pipenv bundle @".split()
)
STRICT_SHELL = re.compile(r"(?:/usr)?(?:/bin/)?(?:env\s+)?(?:ba|da|z|k)?sh(?:\s+-\w+)*")
LOOSE_MAKE = re.compile(
    r"(?:^|\s)(?:-\w*[inktq]\w*|--(?:ignore-errors|keep-going|dry-run|just-print|touch|question))(?=\s|$)"
)
LONGEST = 60_000
STEERING = ("PYTEST_ADDOPTS", "NODE_OPTIONS", "GOFLAGS", "PATH", ".RECIPEPREFIX")
SPEAKS = re.compile(r"\b(?:print\w*|console\.\w+|puts|warn|log\w*)\s*\(?")
OUTCOME = re.compile(
    r"(?:process\.exit(?:Code\s*=|\()|sys\.exit\(|SystemExit\(|\bexit[ (])\s*(?:\w+\.)*(?:status|code|failed|result|rc|returncode|exit_?code|main\(|subprocess|\$\?)"
    r"|\bcheck=True|check_call\(|execFileSync\(|execSync\(|exec[lv]p?e?\("
)
ALWAYS_WELL = re.compile(
    r"(?:process\.exit(?:Code\s*=|\()|sys\.exit\(|\bexit[ (])\s*0|\bexcept\b|\bcatch\b|\|\|\s*true|check=False"
)
COMPARES = re.compile(r"===?|!==?|<=?|>=?|\bnot in\b|\bis not\b|\bin\b|\bis\b|\bassert\b|\braise\b|\bthrow\b")


def script_narrowed(before: str, after: str, *, shell: bool) -> str | None:
    """What the script no longer does; None where it does at least as much."""
    if len(before) + len(after) > LONGEST:
        return "it is too long to be compared"
    if shell:
        return narrowed(steps_in(before), steps_in(after))
    lost = _judging(before) - _judging(after)
    return f"it no longer has {next(iter(lost))}" if lost else None


def tells_the_outcome(text: str | None) -> bool:
    """A program, not a shell script, whose exit code is what it found out and nothing else."""
    code = re.sub(r"(?m)(?:^|\s)(?:#|//).*$", "", text or "")
    return (
        bool(OUTCOME.search(code)) and not ALWAYS_WELL.search(code) and not re.match(r"#!.*sh\b", text or "")
    )


def _judging(text: str) -> Counter[str]:
    """What a program that judges is known by: the values it compares with, and how it compares."""
    lines = [line for line in text.splitlines() if not SPEAKS.match(line.strip())]
    kept = "\n".join(re.sub(r"(?:^|\s)#.*", "", line) for line in lines)
    values = Counter(token.text for token in tokenize(kept, "x.py") if token.literal and len(token.text) < 80)
    bare = re.sub(r"\"[^\"\n]*\"|'[^'\n]*'|->|=>|^\s*(?:from|import|for)\b.*", "", kept, flags=re.M)
    return values + Counter(COMPARES.findall(bare))


def narrowed(before: Steps, after: Steps) -> str | None:
    left = list(after.steps)
    last = 0
    for old in before.steps:
        if says(old) or old.ends:
            continue
        at = next((i for i, new in enumerate(left) if _covers(old, new, after.functions)), None)
        if at is None:
            return f"it no longer has: {' '.join(old.words)[:120]}"
        last = max(last, after.steps.index(left[at]))
        del left[at]
    known = Counter(step.words for step in before.steps)
    for index, new in enumerate(after.steps):
        ends_early = new.ends and not new.depth and not new.inside and index < last and not known[new.words]
        if ends_early:
            return f"it ends early: {' '.join(new.words)}"
    fresh = Counter(after.text.splitlines()) - Counter(before.text.splitlines())
    if bent := next((line for line in fresh if BENDS.search(line)), None):
        return f"failures are passed over: {bent.strip()[:120]}"
    programs = {old.words[0] for old in before.steps}
    shadowed = sorted((after.functions - before.functions) & programs)
    return f"{shadowed[0]} is now a function of its own" if shadowed else None


def _covers(old: Step, new: Step, functions: Iterable[str]) -> bool:
    looser = (new.excused and not old.excused) or (new.joined and not old.joined)
    if looser or new.depth > old.depth:
        return False
    if old.words[0] == new.words[0] == "set":
        return set("".join(old.words[1:])) <= set("".join(new.words[1:])) and "+e" not in new.words
    wanted = [word for word in same_program(old.words) if not SPEAKING_OPTIONS.match(word)]
    given = same_program(new.words)
    added, place = [], 0
    for word in given:
        if place < len(wanted) and word == wanted[place]:
            place += 1
        else:
            added.append((place, word))
    if place < len(wanted):
        return False
    in_front = [word for at, word in added if at == 0]
    wrapped = all(word in PREFIXES or word in functions or re.match(r"\w+=|\d", word) for word in in_front)
    starts = wanted[:1] in (["make"], ["sh"])
    return wrapped and not any(
        NARROWING.fullmatch(word) and (starts or not HARMLESS_OPTIONS.match(word)) for at, word in added if at
    )


def makefile_narrowed(before: Makefile, after: Makefile, targets: list[str]) -> str | None:
    """Recipes may move to another target that is still made, and variables may be split or renamed."""
    was, now = reached(before, targets), reached(after, targets)
    if gone := next((one for one in targets if one in before.recipes and one not in after.recipes), None):
        return f"the target '{gone}' is gone"
    phony = set(before.needs.get(".PHONY", [])) & {*was} & {*now} - set(after.needs.get(".PHONY", []))
    if phony:
        return f"'{min(phony)}' is not made when there is a file of that name"
    if (not targets and was[:1] != now[:1]) or _conditions(after, now) - _conditions(before, was):
        return "what is made now depends on something else"
    return _looser(before, after) or narrowed(_recipe_steps(before, was), _recipe_steps(after, now))


def _looser(before: Makefile, after: Makefile) -> str | None:
    """What is said to make itself, and to the shell it starts."""
    old, new = before.variables, after.variables
    changed = {name: new.get(name, "") for name in {*old, *new} if old.get(name) != new.get(name)}
    careful = re.match(r"-\w*e", new.get(".SHELLFLAGS", "")) is not None
    loose = [name for name in STEERING if name in changed]
    loose += ["SHELL"] if not STRICT_SHELL.fullmatch(changed.get("SHELL", "sh")) else []
    loose += [".SHELLFLAGS"] if ".SHELLFLAGS" in changed and not careful else []
    loose += ["MAKEFLAGS"] if LOOSE_MAKE.search(changed.get("MAKEFLAGS", "")) else []
    loose += [one for one in (".IGNORE", ".POSIX") if one in after.recipes.keys() - before.recipes.keys()]
    loose += (
        [".ONESHELL"] if ".ONESHELL" in after.recipes.keys() - before.recipes.keys() and not careful else []
    )
    return f"{loose[0]} was changed" if loose else None


def _conditions(make: Makefile, targets: Sequence[str]) -> Counter[str]:
    lines = (line for target in targets for line in make.recipes.get(target, []))
    return Counter(line for line in lines if re.match(r"(?:ifn?def|ifn?eq|else)\b", line))


def _recipe_steps(make: Makefile, targets: Sequence[str]) -> Steps:
    found: list[Step] = []
    functions: set[str] = set()
    texts = []
    for target in targets:
        for line in make.recipes.get(target, []):
            marks = re.match(r"[@+\s-]*", line)
            ignored = "-" in (marks.group() if marks else "")
            text = expanded(line.lstrip("@+- \t"), make.variables).replace("$@", target)
            steps = steps_in(text, recipe=True)
            found += [replace(one, excused=one.excused or ignored) for one in steps.steps]
            functions |= steps.functions
            texts.append(line.lstrip("@+ \t"))
    return Steps(tuple(found), frozenset(functions), "\n".join(texts))


def expanded(line: str, variables: dict[str, str], depth: int = 5) -> str:
    def value(use: re.Match[str]) -> str:
        return variables.get(use[1], use[0])

    once = re.sub(r"\$[({]([\w.]+)[)}]", value, line)
    return once if depth == 0 or once == line else expanded(once, variables, depth - 1)


def package_narrowed(
    before: Callable[[str], list[str]], after: Callable[[str], list[str]], name: str
) -> str | None:
    """Scripts that only call other scripts of the package are what those do."""
    return narrowed(steps_in(_flat(before, name), recipe=True), steps_in(_flat(after, name), recipe=True))


def _flat(scripts: Callable[[str], list[str]], name: str, depth: int = 4) -> str:
    lines = []
    for text in scripts(name):
        for line in re.split(r"\s*&&\s*", text):
            called = re.fullmatch(
                r"(?:npm|pnpm|yarn|bun)(?:\s+-\S+)*\s+(?:run(?:-script)?\s+)?([\w:.-]+)(?:\s+-\S+)*",
                line.strip(),
            )
            inner = scripts(called[1]) if called and depth else []
            lines.append(_flat(scripts, called[1], depth - 1) if called and inner else line)
    return "\n".join(lines)
