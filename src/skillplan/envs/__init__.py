"""Worlds to act in. Importing this registers the tasks with Gymnasium and loads no simulator."""

from skillplan.envs.interface import Environment, EnvSpec, Step
from skillplan.envs.registry import default_action_repeat, family, make, register_gymnasium, tasks

__all__ = ["EnvSpec", "Environment", "Step", "default_action_repeat", "family", "make", "tasks"]

register_gymnasium()
