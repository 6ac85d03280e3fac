"""A model server on the loopback that plays a script: how the real agent CLIs are tested without a model."""

from tests.support.model.server import ScriptedModel

__all__ = ["ScriptedModel"]
