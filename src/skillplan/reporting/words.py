"""Numbers with their intervals, said in words."""

import math

from skillplan.reporting.comparison import Panel, ReachRow


def reach_sentence(panel: Panel, row: ReachRow, baseline: str | None) -> str:
    """One line on how soon a curve reaches a return."""
    sentence = f"{panel.task}: {row.curve} reaches {row.level:g} "
    sentence += "never" if math.isinf(row.reach.frames) else f"after {frames_words(row)} frames"
    words = ratio_words(row)
    return f"{sentence}; {baseline} needs {words} times as many." if words else f"{sentence}."


def frames_words(row: ReachRow) -> str:
    """Frames with their interval; `never` for what is not reached."""
    value, low, high = (_frames(number) for number in (row.reach.frames, row.reach.low, row.reach.high))
    value = f"at most {value}" if row.reach.frames == row.reach.earliest else value
    return value if math.isnan(row.reach.low) else f"{value} ({low} to {high})"


def ratio_words(row: ReachRow) -> str:
    """The ratio with its interval; empty where there is none."""
    if row.ratio is None or math.isnan(row.ratio.value):
        return ""
    value, low, high = (_times(number) for number in (row.ratio.value, row.ratio.low, row.ratio.high))
    return value if math.isnan(row.ratio.low) else f"{value} ({low} to {high})"


def _frames(value: float) -> str:
    return "never" if math.isinf(value) else f"{value:,.0f}"


def _times(value: float) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else "0"
    return f"{value:.2f}"
