"""The size of a search for plans: their length, the paper's ⌈H/K⌉, with G, M and MaxCEMiter; acting and training."""

import dataclasses
from typing import NamedTuple

from skillplan.config import Config


def plan_length(config: Config) -> int:
    """Skills in a plan: ⌈H/K⌉."""
    return -(-config.planner.horizon // config.skill.duration)


class SearchSize(NamedTuple):
    """How much one search for a plan tries."""

    plan_length: int
    population: int
    elites: int
    iterations: int


def search_size(config: Config) -> SearchSize:
    """The paper's ⌈H/K⌉, G, M and MaxCEMiter."""
    planner = config.planner
    return SearchSize(plan_length(config), planner.population, planner.elites, planner.iterations)


def while_training(config: Config) -> Config:
    """The configuration with K, H and the effort of a search as they are in the imagination that trains.

    They differ from those of acting after a transfer to longer skills: training segments keep their length, and acting,
    which searches once in K steps, may search harder than training, which searches thousands of times per update.
    """
    planner, skill = config.planner, config.skill
    return dataclasses.replace(
        config,
        planner=dataclasses.replace(
            planner,
            horizon=planner.training_horizon or planner.horizon,
            population=planner.training_population or planner.population,
            elites=planner.training_elites or planner.elites,
            iterations=planner.training_iterations or planner.iterations,
        ),
        skill=dataclasses.replace(skill, duration=skill.training_segment),
    )
