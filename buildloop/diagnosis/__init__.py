"""Why a gate is red: findings, fingerprints, one detector per failure mode, and the verdict.

The names below are loaded when they are asked for: whoever needs one of them shall not pay for all.
"""

from typing import TYPE_CHECKING

from buildloop.lazy import loader

if TYPE_CHECKING:
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
MODULES = {
    "classify_build_loop_failure": "run_dir",
    "detect_context_exhaustion": "context",
    "detect_dependency_issue": "dependency",
    "detect_infinite_loop": "stuck",
    "detect_test_flakiness": "flakiness",
    "diagnose": "classify",
}

__getattr__ = loader(__name__, MODULES)
