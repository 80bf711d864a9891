"""How long plans are: the paper's ⌈H/K⌉, while acting and while training."""

import dataclasses

from skillplan.config import Config


def plan_length(config: Config) -> int:
    """Skills in a plan: ⌈H/K⌉."""
    return -(-config.planner.horizon // config.skill.duration)


def while_training(config: Config) -> Config:
    """The configuration with K and H as they are in the imagination that trains.

    They differ from those of acting after a transfer to longer skills: training segments keep their length.
    """
    planner, skill = config.planner, config.skill
    horizon = planner.training_horizon or planner.horizon
    return dataclasses.replace(
        config,
        planner=dataclasses.replace(planner, horizon=horizon),
        skill=dataclasses.replace(skill, duration=skill.training_segment),
    )
