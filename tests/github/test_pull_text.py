"""Our part of a pull request's text is changed; not a word of anybody else is lost, whatever they did to the marks."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from buildloop.github.pull import END, PullText, with_our_part

TEXT = PullText(run_id="r1", branch="b", wanted_base=None, title="t", body="old words")
PIECES = ("a", "\n", "\r\n", END, TEXT.begin, "<!--", "-->", "`")
ANYTHING = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


@given(ANYTHING, ANYTHING, st.text(max_size=20), st.text(max_size=20))
def test_only_our_part_changes(old, new, before, after):
    first = replace(TEXT, body=old)
    body = f"{before}{first.marked.rstrip()}{after}"
    second = replace(TEXT, body=new)
    assert with_our_part(body, second) == f"{before}{second.marked.rstrip()}{after}"


def test_without_its_end_ours_follows_and_is_found_again():
    body = TEXT.marked.replace(END, "") + "A word of mine."
    once = with_our_part(body, replace(TEXT, body="new words"))
    assert once.startswith(body)
    again = with_our_part(once + "\nAnd another.", replace(TEXT, body="newer words"))
    assert again.startswith(body)
    assert again.endswith("And another.")
    assert "new words" not in again
    assert again.count("newer words") == 1


def test_where_a_person_removed_our_part_it_is_not_put_back():
    assert with_our_part("my own words", TEXT) == "my own words"
    assert with_our_part(f"my own words {END}", TEXT) == f"my own words {END}"
    assert with_our_part(" ", TEXT) == TEXT.marked
