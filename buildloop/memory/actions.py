"""Two to four concrete actions for a failure: what fixed it before, what its class calls for, what its stage does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from buildloop.diagnosis.model import ErrorClass
from buildloop.memory.advice import ANY_STAGE, CLASS_ADVICE, STAGE_ADVICE
from buildloop.memory.credit import fades
from buildloop.memory.model import Action, Fix, Record, SimilarFailure
from buildloop.text import one_line

FEWEST, MOST = 2, 4
MOST_FIXES = 2
NO_RECORDS: Mapping[str, Record] = {}


def generate_suggested_actions(
    error_class: ErrorClass | str,
    stage: str,
    similar: Sequence[SimilarFailure],
    *,
    records: Mapping[str, Record] = NO_RECORDS,
    overall: Record | None = None,
) -> tuple[Action, ...]:
    """Confirmed fixes first, then defaults of the class, then a hint for the stage. Never fewer than two, never more
    than four. `records` are those of the defaults, `overall` that of the class: both come from the store."""
    known = _class(error_class)
    fixes = _fix_actions(similar)
    room = MOST - 1 - len(fixes)
    defaults = _ranked(_defaults(known), records, overall or Record())[: max(1, min(FEWEST, room))]
    return (*fixes, *defaults, _stage_action(stage))[:MOST]


def default_keys(error_class: ErrorClass, stage: str) -> tuple[str, ...]:
    """Under which keys the records of these defaults are kept."""
    return (*(action.key for action in _defaults(error_class)), _stage_action(stage).key)


def _class(given: ErrorClass | str) -> ErrorClass:
    """A class that is not one of the ten is treated as unknown: a suggestion must never fail."""
    return ErrorClass(given) if given in ErrorClass.__members__ else ErrorClass.UNKNOWN


def _fix_actions(similar: Sequence[SimilarFailure]) -> list[Action]:
    standing = [(one, fix) for one in similar for fix in one.fixes if not fix.faded]
    distinct = {fix.change.summary: (one, fix) for one, fix in reversed(standing)}
    ordered = sorted(distinct.values(), key=lambda pair: (not pair[0].exact, -_promise(*pair)))
    return [
        Action(key=fix.id, text=_fix_text(fix, exact=one.exact), fix=fix) for one, fix in ordered[:MOST_FIXES]
    ]


def _promise(similar: SimilarFailure, fix: Fix) -> float:
    return similar.relevance * fix.record.estimate


def _fix_text(fix: Fix, *, exact: bool) -> str:
    """What to do and why to believe it, in one line."""
    where = ", ".join(fix.change.files[:3]) or "the change below"
    said = f": {one_line(fix.change.approach, 160)}" if fix.change.approach else ""
    of = "this failure" if exact else "a similar failure"
    return f"Repeat the confirmed fix of {of} ({fix.record.in_words}) in {where}{said}"


def _defaults(error_class: ErrorClass) -> list[Action]:
    texts = CLASS_ADVICE[error_class]
    return [Action(key=f"{error_class}/{number}", text=text) for number, text in enumerate(texts, 1)]


def _stage_action(stage: str) -> Action:
    name = stage if stage in STAGE_ADVICE else "any"
    return Action(key=f"stage/{name}", text=STAGE_ADVICE.get(stage, ANY_STAGE))


def _ranked(actions: list[Action], records: Mapping[str, Record], overall: Record) -> list[Action]:
    """The most promising first; what is no better than doing without it last; the table's order decides a tie."""

    def standing(action: Action) -> tuple[bool, float]:
        own = records.get(action.key, Record())
        return fades(own, overall), -own.estimate

    return sorted(actions, key=standing)
