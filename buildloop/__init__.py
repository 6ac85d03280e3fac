"""buildloop: run a coding agent until the gate is green, and know why when it is not."""

__version__ = "0.1.0"
