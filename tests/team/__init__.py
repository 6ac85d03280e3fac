"""A package, because the stack is taken down after its last test: without one that would be the end of the session."""
