"""Measures the floors of every task: what doing nothing and random actions are paid.

`python -m skillplan.reporting.floors src/skillplan/reporting/floors.csv`
"""

import csv
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from skillplan.envs import make
from skillplan.envs.registry import TASKS
from skillplan.training.rollout import Player, RandomPlayer, rollout
from skillplan.training.seeding import Stream, environment_seed, generator

EPISODES = 20
COLUMNS = ("task", "policy", "return", "std", "episodes")


class IdlePlayer:
    """Never does anything."""

    def __init__(self, action_size: int):
        """An action is that many zeros."""
        self._size = action_size

    def act(self, observation: np.ndarray, is_first: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Whatever is seen."""
        return np.zeros((len(observation), self._size), np.float32), {}


def measure(task: str, episodes: int = EPISODES) -> dict[str, np.ndarray]:
    """Returns `[episodes]` by who plays, on the fixed reset seeds of evaluation."""
    world = make(task)
    size = world.spec.action_size
    players: dict[str, Player] = {
        "doing nothing": IdlePlayer(size),
        "random actions": RandomPlayer(size, [generator(0, Stream.EVALUATE)]),
    }
    seeds = [environment_seed(0, Stream.ENVIRONMENT_EVALUATE, number) for number in range(episodes)]
    returns = {
        who: np.array([rollout([world], [seed], player)[0].reward.sum() for seed in seeds])
        for who, player in players.items()
    }
    world.close()
    return returns


def write(table: Path, tasks: Sequence[str], episodes: int = EPISODES) -> None:
    """Measure `tasks` into a table."""
    with table.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for task in tasks:
            for who, returns in measure(task, episodes).items():
                writer.writerow((task, who, f"{returns.mean():.1f}", f"{returns.std():.1f}", episodes))
            file.flush()


if __name__ == "__main__":
    write(Path(sys.argv[1]), list(TASKS))
