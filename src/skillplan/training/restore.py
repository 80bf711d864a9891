"""Loading a run from disk: its configuration, its world's description and its newest state."""

import dataclasses
from pathlib import Path
from typing import NamedTuple

import jax

from skillplan.config import Config
from skillplan.envs.interface import EnvSpec
from skillplan.learner import LearnerState
from skillplan.learners import learner_of
from skillplan.training.checkpoint import Checkpoints
from skillplan.training.counters import Counters
from skillplan.training.evaluate import make_environment
from skillplan.training.run_directory import RunDirectory, check_same_world


class LoadedRun(NamedTuple):
    """A run as its newest checkpoint left it."""

    config: Config
    spec: EnvSpec
    state: LearnerState
    counters: Counters


def load_run(path: Path) -> LoadedRun:
    """Read the newest checkpoint of the run at `path`; nothing there is changed."""
    directory = RunDirectory(path)
    config, spec = directory.read()
    template = jax.eval_shape(lambda key: learner_of(config).initial(spec, key), jax.random.key(0))
    state, counters = Checkpoints(directory.checkpoints).restore(template)
    return LoadedRun(config, spec, state, counters)


def in_world_of(loaded: LoadedRun, task: str | None) -> LoadedRun:
    """The same agent on another task with the same observations and actions; as it is where `task` is None."""
    if task is None or task == loaded.config.task:
        return loaded
    config = dataclasses.replace(loaded.config, task=task)
    world = make_environment(config)
    world.close()
    check_same_world(loaded.spec, world.spec)
    return loaded._replace(config=config, spec=world.spec)
