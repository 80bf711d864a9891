"""The rover's tasks: a layout with a reward."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from skillplan.envs.features import Values
from skillplan.envs.rover import layouts, rewards


@dataclass(frozen=True)
class RoverTask:
    """Where an episode starts, what it rewards."""

    layout: layouts.LayoutSampler
    reward: Callable[[rewards.Features], Values]


TASKS = {
    "field": RoverTask(layout=layouts.field, reward=rewards.cruise),
    "cove": RoverTask(layout=layouts.cove, reward=rewards.arrive),
}


def frame_rewards(record: Mapping[str, np.ndarray], task: str) -> Values:
    """What `task` pays for frames `[…]` whose features were recorded, arrays `[…, size]`."""
    position, target = record["position"], record["target"]
    features = rewards.Features(
        position[..., 0], position[..., 1], record["forward_speed"][..., 0], target[..., 0], target[..., 1]
    )
    return TASKS[task].reward(features)
