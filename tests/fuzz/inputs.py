"""Inputs of a certain kind: settings, front matter, XML, addresses, requests; each with what is wrong in it."""

from __future__ import annotations

from hypothesis import strategies as st

from buildloop.config import SETTINGS
from buildloop.goal import StateFile
from tests.fuzz.values import DEEP, DIGITS, LONG, TEXT, as_bytes

VALUES = ['"x"', "1", "-1", "1e400", "nan", "true", "[]", '["a"]', "{a = 1}", "2024-01-01", "[[1]]", '""']
SETTING = st.builds("{} = {}".format, st.sampled_from([*SETTINGS, "goal", '"a b"']), st.sampled_from(VALUES))
TOML = st.lists(SETTING | TEXT | DIGITS.map("a = {}".format), max_size=5).map("\n".join) | DEEP.map(
    "a = ".__add__
)
GOAL = {"goal": "g", "repo": ".", "test": ["t"], "agent_command": "true", "budget_usd": 1.5}
RULES = {"rule": [{"name": "a", "when": {"call": 1, "prompt": "x"}, "do": [{"write": "a", "text": "b"}]}]}
FLEET_TOML = TOML | st.lists(SETTING, max_size=3).map(lambda lines: "\n".join(["[[goal]]", *lines]))
SUFFIXED = st.tuples(st.just(".toml"), FLEET_TOML)
MARKUP = st.sampled_from(
    [
        *(
            "<!--",
            "-->",
            "## Your Goal\n",
            "## Rules\n",
            "## What Failed\n",
            "```\n",
            "~~~\n",
            "BLOCKING ISSUES\n",
            "\n",
        )
    ]
)
PROSE = st.lists(TEXT | MARKUP, max_size=8).map("".join) | LONG
FRONT = st.lists(
    st.builds(
        "{}: {}".format,
        st.sampled_from(list(StateFile.model_fields)),
        TEXT | st.sampled_from(VALUES) | DIGITS,
    )
    | st.sampled_from(
        ["---", "## Log", "? [a]", "&a [*a]", "!!python/object:os.system x", "<<: *a", "2024-99-99"]
    )
    | DEEP.map(lambda text: text[:1200]),
    max_size=8,
).map(lambda lines: "\n".join(["---", *lines, "---", ""]))
CLEAN = st.text(st.characters(exclude_categories=("Cs",)), max_size=60)
TAGS = [
    *(
        "<testsuite>",
        "</testsuite>",
        '<testcase name="a" classname="b" line="3">',
        "</testcase>",
        "<failure>",
    ),
    *(
        '<failure message="m" type="t">',
        "</failure>",
        "<skipped/>",
        "<error/>",
        "<![CDATA[",
        "]]>",
        "<!DOCTYPE a>",
    ),
    *(
        '<?xml version="1.0" encoding="utf-16"?>',
        '<?xml version="1.0" encoding="big5"?>',
        "&amp;",
        "&#0;",
        "<a:b>",
    ),
    *(
        '<?xml version="1.0" encoding="none"?>',
        '<testcase name="&#10;" line="99999999999"/>',
        "<!ENTITY a 'b'>",
    ),
]
XML = st.lists(st.sampled_from(TAGS) | TEXT, max_size=10).map("".join).map(as_bytes) | st.binary(max_size=200)
URL = st.lists(
    st.sampled_from(
        [*("https://", "ssh://", "git@", "github.com", ":", "/", "//", "[", "]", "a", "@", ".git", "?")]
    )
    | st.sampled_from(["http://[::1", "99999", "postgresql://", "sqlite:///", "%zz", "\n", "-"])
    | TEXT,
    max_size=6,
).map("".join)
LOG_REQUEST = {
    "kind": "log",
    "id": "1",
    "text": "FAILED t.py::a - boom",
    "exit_code": 1,
    "first_party": ["a"],
}
EPISODE = {
    "kind": "episode",
    "id": "2",
    "context_window": 1000,
    "iterations": [
        {"passed": False, "text": "E  x", "tree": "t", "changed": True, "context_tokens": 5, "diff": "+a"}
    ],
}
PAIR = {"kind": "pair", "id": "3", "a": "x", "b": "y"}
SUMMARY = {"error_lines": ["a"], "original_error_lines": ["b"], "error_count": 1}
