"""What is known of a task beforehand: its floors, its best possible return, and other people's scores."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from skillplan.envs.registry import TASKS, family
from skillplan.errors import UserError


@dataclass(frozen=True)
class Reference:
    """A score that somebody else published."""

    name: str
    frames: float
    value: float
    source: str


@cache
def floors(task: str) -> dict[str, float]:
    """Mean returns of those who have learned nothing, by who they are: `doing nothing`, `random actions`.

    Empty for tasks that were not measured.
    """
    return {row["policy"]: float(row["return"]) for row in _rows("floors.csv") if row["task"] == task}


@cache
def references(task: str) -> tuple[Reference, ...]:
    """Other people's scores on a task, in the order of the table."""
    return tuple(
        Reference(row["name"], float(row["frames"]), float(row["return"]), row["source"])
        for row in _rows("references.csv")
        if row["task"] == task
    )


def references_within(task: str, frames: float) -> tuple[Reference, ...]:
    """Those by `frames`, or where they all come later the earliest: the rest would squeeze short curves to the edge."""
    every = references(task)
    until = max(frames, min((reference.frames for reference in every), default=0.0))
    return tuple(reference for reference in every if reference.frames <= until)


def best_return(task: str, episode_frames: int | None = None) -> float | None:
    """The most that an episode can bring: one per frame in our worlds and the Control Suite; None where unknown."""
    if task in TASKS:
        frames = TASKS[task].episode_frames
        return None if frames is None else float(frames)
    try:
        pays_at_most_one = family(task) == "suite"
    except UserError:
        return None
    return float(episode_frames) if pays_at_most_one and episode_frames else None


@cache
def _rows(name: str) -> tuple[dict[str, str], ...]:
    return tuple(csv.DictReader((files("skillplan.reporting") / name).read_text().splitlines()))
