"""The quadruped's tasks: a layout with a reward."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from skillplan.envs.features import Values
from skillplan.envs.quadruped import layouts, rewards


@dataclass(frozen=True)
class QuadrupedTask:
    """Where an episode starts, what it rewards, what the robot sees of it."""

    layout: layouts.LayoutSampler
    reward: Callable[[rewards.Features], Values]
    obstacles: int = 0
    """Cylinders in the world; where there are any, the robot observes rays."""
    floor: float = 10.0
    """Half the width of the floor that is drawn, m; the robot can walk beyond it."""


_walk = partial(rewards.move, speed=rewards.WALK_SPEED)
_run = partial(rewards.move, speed=rewards.RUN_SPEED)

TASKS = {
    "getup-walk": QuadrupedTask(layouts.getup, _walk),
    "walk": QuadrupedTask(layouts.upright, _walk),
    "run": QuadrupedTask(layouts.getup, _run, floor=100.0),
    "reach": QuadrupedTask(layouts.upright, rewards.reach),
    "getup-reach": QuadrupedTask(layouts.getup, rewards.reach),
    "obstacles": QuadrupedTask(layouts.field, _walk, obstacles=layouts.FIELD_OBSTACLES),
    "obstacles-reach": QuadrupedTask(layouts.field, rewards.reach, obstacles=layouts.FIELD_OBSTACLES),
    "cove": QuadrupedTask(layouts.cove, rewards.arrive, obstacles=layouts.COVE_WALL + 2 * layouts.COVE_ARM),
    "pillar": QuadrupedTask(layouts.pillar, rewards.reach, obstacles=layouts.PILLAR_OBSTACLES),
}

RECORD_SHAPES = {"position": (2,), "upright": (1,), "forward_velocity": (1,), "target": (2,), "initial_distance": (1,)}


def record(features: rewards.Features) -> dict[str, np.ndarray]:
    """A frame's features under the names in `RECORD_SHAPES`."""
    return {
        "position": np.array((features.x, features.y)),
        "upright": np.array((features.upright,)),
        "forward_velocity": np.array((features.forward_velocity,)),
        "target": np.array((features.target_x, features.target_y)),
        "initial_distance": np.array((features.initial_distance,)),
    }


def frame_rewards(record: Mapping[str, np.ndarray], task: str) -> Values:
    """What `task` pays for frames `[…]` whose features were recorded, arrays `[…, size]`."""
    values = {name: np.asarray(record[name], np.float64) for name in RECORD_SHAPES}
    features = rewards.Features(
        x=values["position"][..., 0],
        y=values["position"][..., 1],
        upright=values["upright"][..., 0],
        forward_velocity=values["forward_velocity"][..., 0],
        target_x=values["target"][..., 0],
        target_y=values["target"][..., 1],
        initial_distance=values["initial_distance"][..., 0],
    )
    return TASKS[task].reward(features)
