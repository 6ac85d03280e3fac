"""`buildloop diagnose`: the diagnosis as a tool."""

from __future__ import annotations


def main(argv: list[str]) -> int:
    raise NotImplementedError
