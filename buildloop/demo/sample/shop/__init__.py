"""The shop."""

from shop.receipt import receipt

__all__ = ["receipt"]
