"""The rover's tasks: a layout with a reward."""

from collections.abc import Callable
from dataclasses import dataclass

from skillplan.envs.rover import layouts, rewards


@dataclass(frozen=True)
class RoverTask:
    """Where an episode starts, what it rewards."""

    layout: layouts.LayoutSampler
    reward: Callable[[rewards.Features], float]


TASKS = {
    "field": RoverTask(layout=layouts.field, reward=rewards.cruise),
    "cove": RoverTask(layout=layouts.cove, reward=rewards.arrive),
}
