"""Numbers with their intervals, said in words."""

import math

from skillplan.reporting.comparison import Panel, ReachRow


def reach_sentence(panel: Panel, row: ReachRow, baseline: str | None) -> str:
    """One line on how soon a curve reaches a return."""
    if math.isinf(row.reach.frames):
        return f"{panel.task}: {row.curve} does not reach {row.level:g} within {row.reach.last:,.0f} frames."
    sentence = f"{panel.task}: {row.curve} reaches {row.level:g} after {frames_words(row)} frames"
    words = ratio_words(row)
    return f"{sentence}; {baseline} needs {words} times as many." if words else f"{sentence}."


def frames_words(row: ReachRow) -> str:
    """Frames with their interval."""
    reach = row.reach
    value, low, high = (_frames(number, reach.last) for number in (reach.frames, reach.low, reach.high))
    value = f"at most {value}" if reach.frames == reach.first else value
    return value if math.isnan(reach.low) else f"{value} ({low} to {high})"


def ratio_words(row: ReachRow) -> str:
    """The ratio, or the bound that is known of it, with its interval; empty where nothing is known."""
    known = row.ratio
    if known is None or (known.at_least == 0 and math.isinf(known.at_most)):
        return ""
    if math.isinf(known.at_most):
        value = f"more than {known.at_least:.2f}"
    elif known.at_least == 0:
        value = f"less than {known.at_most:.2f}"
    else:
        value = f"{known.at_least:.2f}"
    return value if math.isnan(known.low) else f"{value} ({known.low:.2f} to {_times(known.high)})"


def _frames(value: float, last: float) -> str:
    return f"beyond {last:,.0f}" if math.isinf(value) else f"{value:,.0f}"


def _times(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:.2f}"
