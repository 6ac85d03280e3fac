"""Reads Markdown as GitHub does (CommonMark with tables and HTML), to see what is markup in it and what is text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from markdown_it import MarkdownIt


@dataclass
class Tree:
    """`prose` is the text outside code, `html` every piece of HTML, `code` what stands in spans and fences."""

    headings: list[tuple[int, str]] = field(default_factory=list)
    prose: str = ""
    code: str = ""
    html: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)


def read_markdown(text: str) -> Tree:
    tree = Tree()
    level = 0
    for token in MarkdownIt("commonmark", {"html": True}).enable("table").parse(text):
        level = int(token.tag[1]) if token.type == "heading_open" else level
        if token.type == "html_block":
            tree.html.append(token.content.strip())
        elif token.type in ("fence", "code_block"):
            tree.code += token.content
        elif token.type == "inline":
            words = ""
            for child in token.children or ():
                if child.type == "text":
                    words += child.content
                elif child.type == "code_inline":
                    tree.code += child.content + "\n"
                elif child.type == "html_inline":
                    tree.html.append(child.content)
                elif child.type in ("link_open", "image"):
                    tree.links.append(str(child.attrs))
            tree.prose += words + "\n"
            if level:
                tree.headings.append((level, words))
        if token.type == "heading_close":
            level = 0
    return tree


def details_of(text: str) -> list[str]:
    """The titles of the `<details>`, in order; fails unless every one is opened and closed in turn, by us."""
    html = "\n".join(read_markdown(text).html)
    tags = re.findall(r"</?\w+[^>]*>", html)
    assert tags == ["<details>", "<summary>", "</summary>", "</details>"] * (len(tags) // 4), tags
    return re.findall(r"<summary>(.*?)</summary>", html)
