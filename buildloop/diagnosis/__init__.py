"""Why a gate is red: findings, fingerprints, one detector per failure mode, and the verdict."""

from buildloop.diagnosis.classify import diagnose
from buildloop.diagnosis.context import detect_context_exhaustion
from buildloop.diagnosis.dependency import detect_dependency_issue
from buildloop.diagnosis.flakiness import detect_test_flakiness
from buildloop.diagnosis.run_dir import classify_build_loop_failure
from buildloop.diagnosis.stuck import detect_infinite_loop

__all__ = [
    "classify_build_loop_failure",
    "detect_context_exhaustion",
    "detect_dependency_issue",
    "detect_infinite_loop",
    "detect_test_flakiness",
    "diagnose",
]
