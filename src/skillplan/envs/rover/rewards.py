"""What the rover is rewarded for, in one frame: pure functions of named features."""

from typing import NamedTuple

CRUISE_SPEED = 0.8  # m/s; the rover's terminal velocity is 1 m/s


class Features(NamedTuple):
    """What rewards may depend on."""

    forward_speed: float
    """Speed along the body, m/s; negative when the rover backs up."""
    target_distance: float
    """From the rover's centre to the target's, m."""
    target_radius: float
    """m."""


def cruise(features: Features) -> float:
    """Forward speed as a share of cruising speed: clip(speed / 0.8, 0, 1)."""
    return min(max(features.forward_speed / CRUISE_SPEED, 0.0), 1.0)


def arrive(features: Features) -> float:
    """1 while the rover's centre is on the target, else 0."""
    return float(features.target_distance < features.target_radius)
