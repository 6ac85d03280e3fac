"""What commands print: rich on a terminal, plain lines elsewhere; data on stdout, everything else on stderr."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from buildloop.text import plain_text


class PlainConsole(Console):
    """Styles are ours to give. What agents, logs and issues say is printed without its codes for the terminal."""

    def render_str(self, text: str, **options: Any) -> Text:  # noqa: ANN401 (rich's own)
        return super().render_str(plain_text(text), **options)


def console(*, stderr: bool = False) -> PlainConsole:
    """Colour only on a terminal without NO_COLOR; never wrapped when nobody is looking."""
    stream = sys.stderr if stderr else sys.stdout
    plain = not stream.isatty() or bool(os.environ.get("NO_COLOR"))
    width = None if stream.isatty() else 200
    return PlainConsole(
        file=stream, no_color=plain, highlight=False, width=width, soft_wrap=not stream.isatty()
    )


def print_json(value: Any) -> None:  # noqa: ANN401
    print(json.dumps(value, indent=2, ensure_ascii=False))


def complain(sentence: str) -> None:
    console(stderr=True).print(f"[red]buildloop:[/red] {escape(sentence)}")
