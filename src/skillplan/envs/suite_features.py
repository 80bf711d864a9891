"""What the rewards of stock tasks are functions of, for the domains of which several tasks are in our table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from skillplan.envs.features import Values, ramp
from skillplan.envs.gl import importing_without_gl

with importing_without_gl():
    from dm_control.suite import hopper, walker
    from dm_control.utils.rewards import tolerance

Record = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class SuiteFeatures:
    """The features of one domain."""

    shapes: dict[str, tuple[int, ...]]
    """Of the recorded arrays of a frame."""
    read: Callable[[Any], dict[str, np.ndarray]]
    """Reads them from a `dm_control.mujoco.Physics`."""
    rewards: Mapping[str, Callable[[Record], Values]]
    """By the name of the task: what it pays for frames `[…]` whose features were recorded, arrays `[…, size]`."""


def frame_rewards(record: Record, domain: str, task: str) -> Values:
    """What `task` of `domain` pays for recorded frames `[…]`; the formulas are dm_control's."""
    values = {name: np.asarray(record[name], np.float64) for name in FEATURES[domain].shapes}
    return FEATURES[domain].rewards[task](values)


def _walker_stands(record: Record) -> Values:
    low, height = walker._STAND_HEIGHT, record["height"][..., 0]
    standing = tolerance(height, (low, float("inf")), margin=low / 2)
    return (3 * standing + (1 + record["upright"][..., 0]) / 2) / 4


def _walker_moves(speed: float) -> Callable[[Record], Values]:
    def reward(record: Record) -> Values:
        moves = ramp(speed - record["speed"][..., 0], speed / 2, foot=0.5)
        return _walker_stands(record) * (5 * moves + 1) / 6

    return reward


def _hopper_stands(record: Record) -> Values:
    control = np.mean(tolerance(record["control"], margin=1, value_at_margin=0, sigmoid="quadratic"), axis=-1)
    return _hopper_is_up(record) * (control + 4) / 5


def _hopper_hops(record: Record) -> Values:
    speed = float(hopper._HOP_SPEED)
    return _hopper_is_up(record) * ramp(speed - record["speed"][..., 0], speed / 2, foot=0.5)


def _hopper_is_up(record: Record) -> Values:
    return np.asarray(tolerance(record["height"][..., 0], (hopper._STAND_HEIGHT, 2)))


FEATURES = {
    "walker": SuiteFeatures(
        shapes={"height": (1,), "upright": (1,), "speed": (1,)},
        read=lambda physics: {
            "height": np.array((physics.torso_height(),)),
            "upright": np.array((physics.torso_upright(),)),
            "speed": np.array((physics.horizontal_velocity(),)),
        },
        rewards={
            "stand": _walker_stands,
            "walk": _walker_moves(float(walker._WALK_SPEED)),
            "run": _walker_moves(float(walker._RUN_SPEED)),
        },
    ),
    "hopper": SuiteFeatures(
        shapes={"height": (1,), "speed": (1,), "control": (4,)},
        read=lambda physics: {
            "height": np.array((physics.height(),)),
            "speed": np.array((physics.speed(),)),
            "control": physics.control(),
        },
        rewards={"hop": _hopper_hops, "stand": _hopper_stands},
    ),
}
