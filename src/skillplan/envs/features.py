"""What rewards are functions of, as it is kept on disk."""

import numpy as np

Values = np.ndarray | np.floating | float
"""One number for each frame: an array for arrays of features, a number for numbers."""


def as_recorded(value: Values) -> Values:
    """The value after it was stored in float32.

    A world that decides by a threshold rounds first: what is recomputed from disk then never falls on the other side.
    """
    return np.asarray(value, np.float32).astype(np.float64)


def distance(x: Values, y: Values, target_x: Values, target_y: Values) -> Values:
    """Metres on the ground from (x, y) to the target, from recorded coordinates."""
    return np.hypot(as_recorded(target_x) - as_recorded(x), as_recorded(target_y) - as_recorded(y))


def ramp(shortfall: Values, width: Values, foot: float) -> Values:
    """1 where nothing is missing, falling in proportion to `shortfall` to `foot` at `width`, and on to 0.

    To the bit the linear form of dm_control's `tolerance`, whose `margin` is `width` and `value_at_margin` is `foot`.
    """
    return np.minimum(np.maximum(1 - np.asarray(shortfall) / width * (1 - foot), 0.0), 1.0)
