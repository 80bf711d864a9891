"""What the rover is rewarded for, in one frame: pure functions of named features, numbers or arrays alike."""

from typing import NamedTuple

import numpy as np

from skillplan.envs.features import Values, as_recorded, distance

CRUISE_SPEED = 0.8  # m/s; the rover's terminal velocity is 1 m/s
TARGET_RADIUS = 0.6  # m


class Features(NamedTuple):
    """What rewards may depend on."""

    x: Values
    """Of the rover's centre, m."""
    y: Values
    """Of the rover's centre, m."""
    forward_speed: Values
    """Speed along the body, m/s; negative when the rover backs up."""
    target_x: Values
    """Of the target's centre, m."""
    target_y: Values
    """Of the target's centre, m."""


def cruise(features: Features) -> Values:
    """Forward speed as a share of cruising speed: clip(speed / 0.8, 0, 1)."""
    return np.minimum(np.maximum(as_recorded(features.forward_speed) / CRUISE_SPEED, 0.0), 1.0)


def arrive(features: Features) -> Values:
    """1 while the rover's centre is on the target, else 0."""
    gap = distance(features.x, features.y, features.target_x, features.target_y)
    return np.where(gap < TARGET_RADIUS, 1.0, 0.0)
