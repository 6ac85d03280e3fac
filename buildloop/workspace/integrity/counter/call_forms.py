"""Tests that follow a changed signature: the same values and demands, handed over in another form.

Where parameters are checked when the code is compiled or called, an old test cannot run on a new signature and the
sources decide. JavaScript and shell call anything with anything and fail by their answer; there the change itself must
show that only the form is another.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from buildloop.workspace.integrity.counter.renames import renamed
from buildloop.workspace.integrity.files import is_test
from buildloop.workspace.integrity.model import Change
from buildloop.workspace.integrity.readers.blocks import JS, JS_TESTS, blocks_of
from buildloop.workspace.integrity.readers.tokens import CLOSE, OPEN, Token, closing, tokenize
from buildloop.workspace.integrity.tricks import added_lines

SIGNATURE = re.compile(
    r"(?:function\s*\*?\s+|^\s*(?:static\s+|async\s+|get\s+)*|\b(?:const|let)\s+)(?P<name>[A-Za-z_$][\w$]*)\s*(?:=\s*(?:async\s*)?)?"
    r"\((?P<given>[^()]*(?:\([^()]*\)[^()]*)*)\)\s*(?:=>\s*)?\{",
    re.M,
)
SAYS_A_CALL = re.compile(r"(?i)called?_?(?:once_?)?_?with$|calledwith|has_calls|^call$")
KEYWORDS = frozenset("if for while switch catch function return".split())
LONGEST = 200_000
FORM = frozenset("{}()[],:.;=")


def only_called_differently(
    changes: Sequence[Change], restored: Collection[str], names: Mapping[str, str] = MappingProxyType({})
) -> bool:
    """Whether every restored test differs in nothing but how it calls functions whose parameters were changed, or how
    it says that the product calls others. `names` leads from what the product was called to what it is called."""
    changes = [replace(c, before=renamed(c.before, names)) if c.before else c for c in changes]
    words = _Words(_new_parameters(changes), _new_words(changes))
    tests = [c for c in changes if c.old_name in restored or c.name in restored]
    code = all(JS.search(one.name) or one.name.endswith(".py") for one in tests)
    return bool(tests) and code and all(_same_but_form(change, words) for change in tests)


@dataclass(frozen=True, slots=True)
class _Words:
    parameters: frozenset[str]
    product: frozenset[str]


def _new_parameters(changes: Sequence[Change]) -> frozenset[str]:
    """Functions of the product with other parameters than before, and the names of these."""
    found: set[str] = set()
    for change in changes:
        if JS.search(change.name) and not is_test(change.name) and len(change.after or "") <= LONGEST:
            before, after = _signatures(change.before or ""), _signatures(change.after or "")
            for name in before.keys() & after.keys():
                if before[name] != after[name]:
                    found |= {name, *re.findall(r"[A-Za-z_$][\w$]*", f"{before[name]} {after[name]}")}
    return frozenset(found)


def _new_words(changes: Sequence[Change]) -> frozenset[str]:
    lines = [
        line
        for change in changes
        if not is_test(change.name)
        for line in added_lines(change.before or "", change.after or "", change.name)
    ]
    return frozenset(word for line in lines for word in re.findall(r"[A-Za-z_$][\w$]*", line))


def _signatures(text: str) -> dict[str, str]:
    found = SIGNATURE.finditer(text)
    return {one["name"]: " ".join(one["given"].split()) for one in found if one["name"] not in KEYWORDS}


def _same_but_form(change: Change, words: _Words) -> bool:
    if change.before is None or change.after is None or len(change.before) + len(change.after) > LONGEST:
        return False
    old = tokenize(change.before, change.name)
    new = _without_new_tests(change, old)
    if [t.text for t in old if t.literal] != [t.text for t in new if t.literal]:
        return False
    matcher = difflib.SequenceMatcher(None, [t.text for t in old], [t.text for t in new], autojunk=False)
    touched = [
        (tokens, index)
        for kind, a, b, c, d in matcher.get_opcodes()
        if kind != "equal"
        for tokens, start, end in ((old, a, b), (new, c, d))
        for index in range(start, end)
    ]
    named = any(tokens[index].kind == "word" for tokens, index in touched)
    return named and all(_is_form(tokens, index, words, change.name) for tokens, index in touched)


def _without_new_tests(change: Change, old: Sequence[Token]) -> list[Token]:
    """The tokens of the new file without whole tests that it did not have: more is asked there, nothing is excused."""
    tokens = list(tokenize(change.after or "", change.name))
    if not JS.search(change.name):
        return tokens
    known = {block.name for block in blocks_of(change.name, change.before or "", old)}
    titles = {id(b.title) for b in blocks_of(change.name, change.after or "", tokens) if b.name not in known}
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        if tokens[index].text in JS_TESTS and id(tokens[min(index + 2, len(tokens) - 1)]) in titles:
            index = closing(tokens, index + 1) + 1
            index += index < len(tokens) and tokens[index].text == ";"
            continue
        kept.append(tokens[index])
        index += 1
    return kept


def _is_form(tokens: Sequence[Token], index: int, words: _Words, file: str) -> bool:
    token = tokens[index]
    if token.text in FORM or token.literal:
        return True
    said = token.text in words.product and _says_a_call(tokens, index)
    return token.kind == "word" and (said or (bool(JS.search(file)) and token.text in words.parameters))


def _says_a_call(tokens: Sequence[Token], index: int) -> bool:
    """Whether it stands in `toHaveBeenCalledWith(…)` or one of its kind."""
    depth = 0
    for place in range(index, 0, -1):
        text = tokens[place].text if tokens[place].kind == "other" else ""
        depth += (text in CLOSE) - (text in OPEN) if text else 0
        if depth < 0 and SAYS_A_CALL.search(tokens[place - 1].text):
            return True
    return False
