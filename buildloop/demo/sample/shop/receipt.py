"""Receipts."""

from tinymoney import show


def receipt(cents):
    return f"to pay: {show(cents)}"
