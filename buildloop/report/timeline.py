"""The picture of a run as plain numbers: bars of failing tests, why they failed, the context's fill, the cost.

Only geometry; the template draws it. One column an iteration, however many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby, pairwise

from buildloop.models import Iteration
from buildloop.report.chart import NUMBER_WIDTH, Bar, Chart, Columns, Label, Panel, Segment
from buildloop.report.story import Story, when
from buildloop.report.words import MODES, compact, count, money

TOP = 24
FAILING_HEIGHT, BAND_HEIGHT, SMALL_HEIGHT = 120, 22, 56
TITLE_ROOM, GAP = 20, 14
LABEL_WIDTH = 6.6
GREEN = "passed"
UNKNOWN = "unknown"


def chart_of(story: Story, name: str, width: int) -> Chart:
    """`name` keeps the ids of two charts on one page apart."""
    steps, left, right = story.steps, 6.0, width - 6.0
    columns = Columns(left, right, (right - left) / max(1, len(steps)))
    y: float = TOP + TITLE_ROOM
    failing = _failing(steps, columns, y)
    y += FAILING_HEIGHT + GAP
    band_y = y + TITLE_ROOM
    y = band_y + BAND_HEIGHT + GAP
    context = cost = None
    threshold = story.facts.request.context_threshold
    threshold_y = 0.0
    if any(one.context_pct for one in steps):
        context = _context(steps, columns, y + TITLE_ROOM)
        threshold_y = context.base - SMALL_HEIGHT * min(100, threshold) / 100
        y = context.base + GAP
    if (figures := _spent(steps)) is not None:
        cost = _cost(steps, figures, columns, y + TITLE_ROOM)
        y = cost.base + GAP
    axis_y = y + 8
    return Chart(
        name=name,
        width=width,
        height=axis_y + 14,
        left=left,
        right=right,
        failing=failing,
        band_y=band_y,
        band=tuple(_band(steps, columns)),
        context=context,
        threshold=threshold,
        threshold_y=threshold_y,
        cost=cost,
        sessions=_session_starts(steps, columns),
        ticks=_ticks(steps, columns, axis_y),
        axis_y=axis_y,
        summary=_summary(story),
    )


def kind_of(one: Iteration) -> str:
    if one.gate.passed:
        return GREEN
    return one.diagnosis.mode if one.diagnosis else UNKNOWN


def kind_name(kind: str) -> str:
    named = {str(mode): words.name for mode, words in MODES.items()}
    return {GREEN: "green", UNKNOWN: "not diagnosed", **named}[kind]


def _failing(steps: Sequence[Iteration], columns: Columns, top: float) -> Panel:
    base, most = top + FAILING_HEIGHT, max((one.gate.failing_count for one in steps), default=0) or 1
    bars = []
    for index, one in enumerate(steps):
        number = one.gate.failing_count
        height = max(3.0, (FAILING_HEIGHT - 22) * number / most) if number else 3.0
        title = f"{when(one.number)}: {one.gate.in_words}, {kind_name(kind_of(one))}"
        x = columns.middle(index) - columns.bar / 2
        bars.append(Bar(x, base - height, columns.bar, height, kind_of(one), title))
    texts = [f"{one.gate.failing_count:,}" if not one.gate.passed else "✓" for one in steps]
    shown = _labelled(texts, [one.gate.failing_count for one in steps], columns.step)
    labels = tuple(Label(columns.inside(i, texts[i]), bars[i].y - 5, texts[i]) for i in shown)
    return Panel("Failing tests", top, base, bars=tuple(bars), labels=labels)


def _labelled(texts: Sequence[str], numbers: Sequence[int], step: float) -> list[int]:
    """Every column where the numbers fit; else the first, the worst, the last: what the eye looks for."""
    if not texts:
        return []
    if max(map(len, texts)) * NUMBER_WIDTH + 3 <= step:
        return list(range(len(texts)))
    wanted = sorted({0, max(range(len(numbers)), key=lambda i: numbers[i]), len(texts) - 1})
    apart = max(len(texts[i]) for i in wanted) * NUMBER_WIDTH + 6
    kept = [wanted[-1]]
    for index in wanted[-2::-1]:
        if (kept[0] - index) * step >= apart:
            kept.insert(0, index)
    return kept


def kinds_of(one: Iteration) -> list[str]:
    """Everything an iteration was diagnosed as, in order, and green where it ended so."""
    kinds: list[str] = [remedy.diagnosis.mode for remedy in one.remedies]
    if one.gate.passed or not kinds:
        kinds.append(kind_of(one))
    return [kind for kind, _ in groupby(kinds)]


def _band(steps: Sequence[Iteration], columns: Columns) -> list[Segment]:
    """Pieces of a column for its kinds; neighbours of one kind are one piece, so that there is room for its name."""
    pieces = [
        (
            kind,
            columns.left + (index + place / len(kinds)) * columns.step,
            columns.step / len(kinds),
            one.number,
        )
        for index, one in enumerate(steps)
        for kinds in [kinds_of(one)]
        for place, kind in enumerate(kinds)
    ]
    found = []
    for kind, group in groupby(pieces, key=lambda piece: piece[0]):
        same = list(group)
        width = sum(piece[2] for piece in same)
        first, last = when(same[0][3]), when(same[-1][3])
        span = first if first == last else f"{first} to {last}"
        gap = min(1.5, width * 0.15)
        label = _fitting(kind, width - 6)
        found.append(Segment(same[0][1], width - gap, kind, label, f"{span}: {kind_name(kind)}"))
    return found


def _fitting(kind: str, room: float) -> str:
    mode = next((name for key, name in MODES.items() if key == kind), None)
    words = (mode.name, mode.short, mode.letter) if mode else (kind_name(kind), "✓" if kind == GREEN else "?")
    return next((word for word in words if len(word) * LABEL_WIDTH <= room), "")


def _context(steps: Sequence[Iteration], columns: Columns, top: float) -> Panel:
    base = top + SMALL_HEIGHT
    values = [min(100, one.context_pct) for one in steps]
    most = max(one.context_pct for one in steps)
    bars = tuple(
        Bar(
            columns.middle(index) - columns.bar / 2,
            base - SMALL_HEIGHT * value / 100,
            columns.bar,
            SMALL_HEIGHT * value / 100,
            "fill",
            f"{when(one.number)}: context {one.context_pct} % full",
        )
        for index, (one, value) in enumerate(zip(steps, values, strict=True))
    )
    return Panel("Context fill", top, base, note=f"at most {most} %", bars=bars)


def _spent(steps: Sequence[Iteration]) -> tuple[str, list[float], Callable[[float], str]] | None:
    """Dollars where the agent reports them, else tokens, else nothing."""
    usages = [one.agent.reply.usage if one.agent else None for one in steps]
    dollars = [usage.cost_usd or 0.0 if usage else 0.0 for usage in usages]
    if any(dollars):
        return "Cost, added up", dollars, money
    tokens = [float(usage.all_tokens) if usage else 0.0 for usage in usages]
    return ("Tokens, added up", tokens, lambda n: compact(round(n))) if any(tokens) else None


def _cost(
    steps: Sequence[Iteration],
    figures: tuple[str, list[float], Callable[[float], str]],
    columns: Columns,
    top: float,
) -> Panel:
    title, values, words = figures
    base, total, so_far = top + SMALL_HEIGHT, sum(values), 0.0
    bars = []
    for index, (one, value) in enumerate(zip(steps, values, strict=True)):
        so_far += value
        height = SMALL_HEIGHT * so_far / total
        label = f"{when(one.number)}: {words(value)}, {words(so_far)} so far"
        x = columns.middle(index) - columns.bar / 2
        bars.append(Bar(x, base - height, columns.bar, height, "cost", label))
    return Panel(title, top, base, note=f"{words(total)} in all", bars=tuple(bars))


def _session_starts(steps: Sequence[Iteration], columns: Columns) -> tuple[Label, ...]:
    starts = [index + 1 for index, (one, after) in enumerate(pairwise(steps)) if one.session != after.session]
    found: list[Label] = []
    for index in starts:
        x = columns.left + index * columns.step
        crowded = bool(found) and x - found[-1].x < 64
        found.append(Label(x, 12, "" if crowded else f"session {steps[index].session}", "start"))
    return tuple(found)


def _ticks(steps: Sequence[Iteration], columns: Columns, y: float) -> tuple[Label, ...]:
    """Iteration numbers at a round distance; 0 is the baseline."""
    apart = next((n for n in (1, 2, 5, 10, 20, 25, 50, 100, 200, 500) if n * columns.step >= 26), 1000)
    return tuple(
        Label(columns.inside(index, str(one.number)), y, str(one.number))
        for index, one in enumerate(steps)
        if one.number % apart == 0
    )


def _summary(story: Story) -> str:
    """The picture in a sentence, for those who do not see it."""
    if not story.steps:
        return "No iterations yet."
    first, last = story.steps[0].gate, story.steps[-1].gate
    modes = ", ".join(kind_name(mode) for mode in story.modes) or "none"
    return (
        f"{count(story.iterations, 'iteration')} in {count(len(story.sessions), 'session')}: the gate was "
        f"{first.in_words} at the start and {last.in_words} at the end. Failure modes met: {modes}. "
        "The table of iterations below has every figure."
    )
