"""What the quadruped is rewarded for, in one frame: pure functions of named features, numbers or arrays alike."""

from typing import NamedTuple

import numpy as np

from skillplan.envs.features import Values, as_recorded, distance, ramp

WALK_SPEED = 0.5  # m/s
RUN_SPEED = 5.0  # m/s
REACH_RADIUS = 0.5  # m; nearer counts as there


class Features(NamedTuple):
    """What rewards may depend on."""

    x: Values
    """Of the torso, m."""
    y: Values
    """Of the torso, m."""
    upright: Values
    """Cosine of the angle between the torso's up and the world's: 1 upright, -1 upside down."""
    forward_velocity: Values
    """Of the torso along itself, m/s."""
    target_x: Values
    """m."""
    target_y: Values
    """m."""
    initial_distance: Values
    """From the torso to the target when the episode began, m."""


def move(features: Features, speed: float) -> Values:
    """Upright and fast: dm_control's reward, to the bit. Standing upright pays a half, `speed` (m/s) everything."""
    return upright(features) * ramp(speed - np.asarray(features.forward_velocity), speed, foot=0.5)


def reach(features: Features) -> Values:
    """Upright and near: 1 within half a metre of the target, falling linearly to 0 at the distance of the start."""
    missing = _distance(features) - REACH_RADIUS
    width = as_recorded(features.initial_distance) - REACH_RADIUS
    return upright(features) * ramp(missing, width, foot=0.0)


def arrive(features: Features) -> Values:
    """1 while the torso is within half a metre of the target, else 0."""
    return np.where(_distance(features) < REACH_RADIUS, 1.0, 0.0)


def upright(features: Features) -> Values:
    """From 0 upside down to 1 upright."""
    return ramp(1 - np.asarray(features.upright), 2.0, foot=0.0)


def _distance(features: Features) -> Values:
    return distance(features.x, features.y, features.target_x, features.target_y)
