"""Nothing in a log, a goal or a name gets out of its place: not in Markdown, not on GitHub, not in the page."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from buildloop.diagnosis.model import Diagnosis, FailureMode
from buildloop.report.error_context import SimilarFailure, format_context_error_report
from buildloop.report.github_comment import MOST_BYTES, format_github_error_comment
from buildloop.report.github_report import failure_comment, github_report, pull_request_title
from buildloop.report.html import html_report
from buildloop.report.markdown import run_report
from buildloop.report.safe import code, sentence
from tests.report.markdown_tree import details_of, read_markdown
from tests.support import runs

ATTACKS = (
    "```\n</details>\n<img src=x onerror=alert(1)>\n@octocat closes #1",
    "</summary></details><script>alert(1)</script>",
    "`````` </details> ``````",
    "~~~\n</details>\n~~~",
    "# heading\n| a | b |\n|---|---|\n<!-- -->",
    "[click](javascript:alert(1)) ![x](http://evil.example/p.png) <http://evil.example>",
    "@octocat @org/team #12 GH-12 fixes #99 ada/shop#3",
    "\u200b\u202e\u2066a\u2069\ufeff\x1b[31m\x00\x07\r\nlast",
    "&lt;b&gt; &#64;octocat",
    "\\`\\`\\` \\</details>",
    "a\n\n\n    indented\n\n> quote\n- list\n1. one\n***",
)


def everywhere(text: str) -> str:
    """A comment in which every piece of data is `text`."""
    found = Diagnosis(FailureMode.CODE_ERROR, 0.5, (text, text))
    similar = (SimilarFailure(text, text, 1, 2),)
    return format_github_error_comment(
        text, text, 3, text, 12, diagnosis=found, similar=similar, actions=(text, text), log=text * 3
    )


def assert_contained(markdown: str, *titles: str) -> None:
    tree = read_markdown(markdown)
    assert details_of(markdown) == list(titles)
    assert tree.links == []
    for call in ("@octocat", "@org", "#99", "#1\n", "#3", "GH-12"):
        assert call not in tree.prose.replace("issue #12", "")
    assert not {"\u200e", "\u202e", "\u2066", "\ufeff", "\x1b", "\x00", "\x07", "\r"} & set(markdown)


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_breaks_out_of_a_github_comment(attack):
    assert_contained(everywhere(attack), "Log", "Goal")


@given(st.text(alphabet="`~<>/details@#octa1\n\r\\[]()!|*_- \t\u200b\x1b", max_size=300))
@example("```\n```")
def test_no_text_whatever_breaks_out_of_a_github_comment(text):
    comment = everywhere(text)
    assert details_of(comment) == ["Log", "Goal"]
    assert [title for level, title in read_markdown(comment).headings if level == 3] == [
        "What Failed",
        "Why",
        "Similar Past Issues",
        "Suggested Actions",
    ]


@given(st.text(max_size=200))
def test_a_code_span_is_one_span_whatever_is_in_it(text):
    tree = read_markdown(f"before {code(text)} after")
    assert tree.prose.strip().split() == ["before", "after"]


@given(st.text(max_size=200))
def test_a_sentence_has_no_markup_whatever_is_in_it(text):
    tree = read_markdown(f"before {sentence(text)} after")
    assert tree.prose.startswith("before ")
    assert tree.prose.rstrip().endswith("after")
    assert (tree.html, tree.links, tree.code, tree.headings) == ([], [], "", [])


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("form", [run_report, github_report])
def test_nothing_breaks_out_of_the_markdown_report(form, attack):
    tree = read_markdown(form(poisoned(attack)))
    assert tree.links == []
    assert "alert(1)" not in "".join(tree.html)
    assert "@octocat" not in tree.prose


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_breaks_out_of_the_page(attack):
    page = html_report(poisoned(attack))
    assert "<script" not in page.lower()
    assert "<img" not in page.lower()
    assert "onerror=alert(1)>" not in page
    assert not {"\u202e", "\u2066", "\ufeff", "\x1b", "\x00", "\x07"} & set(page)
    assert page.count("</html>") == 1


def poisoned(text: str):
    """A run in which goal, tests, files, evidence, what the agent said and why it ended are all `text`."""
    found = runs.many_failures()
    steps = []
    for one in found.iterations:
        reading = replace(one.gate.reading, failing=(text, text), error_lines=(text,))
        gate = one.gate.model_copy(update={"reading": reading, "tail": text, "explanation": text})
        remedy = one.remedies[0]
        remedy = remedy.model_copy(
            update={
                "diagnosis": replace(remedy.diagnosis, evidence=(text,)),
                "recovery": remedy.recovery.model_copy(update={"outcome": text}),
            }
        )
        agent = one.agent
        if agent is not None:
            point = agent.checkpoint.model_copy(update={"files": (text,)})
            agent = agent.model_copy(
                update={
                    "checkpoint": point,
                    "reply": agent.reply.model_copy(update={"text": text, "error": text}),
                }
            )
        steps.append(one.model_copy(update={"reports": (gate,), "remedies": (remedy,), "agent": agent}))
    result = found.result.model_copy(update={"explanation": text, "question": text, "failing": (text,)})
    request = found.request.model_copy(update={"goal": text})
    return replace(found, iterations=tuple(steps), result=result, request=request, degraded=(text,))


@pytest.mark.parametrize("line", ["x" * 300, "ü" * 900, "🔥" * 500, "`" * 2_000, "<&>" * 300])
def test_a_comment_stays_below_githubs_limit_and_keeps_both_ends_of_the_log(line):
    log = "\n".join(["the first line", *[f"{number} {line}" for number in range(5_000)], "the last line"])
    text = format_github_error_comment(
        log, "gate", 1, line * 50, 12, similar=(), log=log, actions=(line,) * 9
    )
    assert len(text) <= len(text.encode()) <= MOST_BYTES < 65_536
    assert details_of(text)[0] == "Log"
    assert "the first line" in text
    assert "the last line" in text
    assert "lines left out" in text


def test_the_comment_of_the_longest_run_fits():
    for facts in (runs.long_run(), runs.many_failures()):
        assert len(failure_comment(facts).encode()) <= MOST_BYTES


def test_a_long_line_is_cut_and_not_the_end_of_the_log():
    log = "x" * 500_000 + "\nthe reason"
    assert "the reason" in format_github_error_comment(log, "gate", 1, "g", similar=())


def test_secrets_are_masked_before_anything_is_cut(monkeypatch):
    """Half a secret at the end of a line that was cut is still half a secret."""
    monkeypatch.setenv("SHOP_API_KEY", "correct-horse-battery-staple")
    for filler in range(150, 320, 7):
        text = "x" * filler + " correct-horse-battery-staple"
        for shown in (everywhere(text), format_context_error_report(text, text, 1, text)):
            assert "correct-horse" not in shown


def test_secrets_are_masked_in_every_report(monkeypatch):
    monkeypatch.setenv("SHOP_API_KEY", 'pa"ss<word>&more')
    found = poisoned('it is pa"ss<word>&more there')
    page = html_report(found)
    assert "[masked]" in page
    assert "pa&#34;ss" not in page
    assert 'pa"ss' not in github_report(found)


def test_a_terminal_report_cannot_be_painted_by_a_log():
    text = format_context_error_report("\x1b[2J\x1b]0;title\x07red", "gate", 1, "\x1b[31mgoal", plain=True)
    assert "\x1b" not in text
    assert "\x07" not in text


@pytest.mark.parametrize(
    "call",
    [
        "closes https://github.com/ada/shop/issues/12",
        "Fixes: www.github.com/ada/shop/issues/12",
        "resolves ada/shop#12",
        "closes GH-12",
        "fix #12, @ada",
    ],
)
def test_no_words_of_others_close_an_issue_or_call_anybody(call):
    """A title becomes the message of a squashed commit, and there GitHub reads such words too."""
    facts = runs.complete()
    goal = facts.request.model_copy(update={"goal": call})
    for text in (sentence(call), pull_request_title(replace(facts, request=goal))):
        assert not re.search(r"#\d|GH-\d|@\w|://|www\.", text)
        assert text.replace("\u200b", "") == call
