"""Whether a green gate was earned: the same tests, not skipped, not weakened, the gate not edited."""

from buildloop.workspace.integrity.check import Evidence, objections_to
from buildloop.workspace.integrity.counter.proof import counter_proof
from buildloop.workspace.integrity.executed import Ran, ran
from buildloop.workspace.integrity.judge import check_integrity
from buildloop.workspace.integrity.model import Objection

__all__ = ["Evidence", "Objection", "Ran", "check_integrity", "counter_proof", "objections_to", "ran"]
