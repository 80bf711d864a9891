"""Measuring an agent: noise-free returns on fixed reset seeds, and how far apart its skills are."""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from skillplan.config import Config
from skillplan.envs import make
from skillplan.envs.interface import Environment
from skillplan.envs.workers import WorkerEnvironment
from skillplan.envs.wrapper import RepeatedEnvironment
from skillplan.learner import Act, ActingModels
from skillplan.learners import learner_of
from skillplan.replay.episode import Episode
from skillplan.training.rollout import AgentPlayer, rollout
from skillplan.training.seeding import Stream, environment_seed, generator, key
from skillplan.types import Batch

SKILLS = 16
REPEATS = 4
SIDE_BY_SIDE = 16
HELD_START = environment_seed(0, Stream.SKILL_DISPLACEMENT)
"""The reset from which skills are compared."""
UPRIGHT = 0.7
"""Cosine of the tilt, about 45 degrees, below which a robot counts as fallen."""


class Spread(NamedTuple):
    """Standard deviations of end positions, in the unit of the record's `position` (metres)."""

    across: float
    within: float


def make_environment(config: Config) -> RepeatedEnvironment:
    """One world as a run's configuration describes it."""
    settings = config.environment
    return make(
        config.task,
        action_repeat=settings.action_repeat,
        pixels=settings.pixels,
        shadows=settings.shadows,
        episode_length=settings.episode_length,
    )


def make_environments(config: Config) -> list[Environment]:
    """The worlds in which a run collects its experience, `config.envs` of them."""
    make_one = functools.partial(make_environment, config)
    environments: list[Environment] = []
    try:
        for _ in range(config.envs):
            environments.append(WorkerEnvironment(make_one) if config.environment.workers else make_one())
    except Exception:
        for environment in environments:
            environment.close()
        raise
    return environments


def spread_of_ends(ends: np.ndarray) -> Spread:
    """How far apart skills end, from end positions `[skills, repeats, dims]`.

    `within` is the root of the mean variance between repeats of one skill; `across` that of the variance between the
    skills' mean ends, less what the repeats' scatter alone would give (unbiased estimates, variances summed over axes).
    """
    repeats = ends.shape[1]
    within = ends.var(axis=1, ddof=1).sum(axis=-1).mean()
    across = ends.mean(axis=1).var(axis=0, ddof=1).sum() - within / repeats
    return Spread(float(np.sqrt(max(across, 0.0))), float(np.sqrt(within)))


def held_positions(episodes: Sequence[Episode], steps: int) -> np.ndarray:
    """Positions `[episodes, steps + 1, dims]` at the last frame of each agent step.

    A world that ended early stays where it ended.
    """
    return np.stack([_stay(episode.record["position"][:, -1], steps + 1) for episode in episodes])


class Evaluator:
    """Evaluates the agents of one run; everything is compiled at its first use and never again.

    Acting is not even compiled again by another evaluator of the same configuration.
    """

    def __init__(self, config: Config):
        """Nothing is made before it is needed."""
        self.config = config
        learner = learner_of(config)
        self._act, self._hold = _acting(config, True), _acting(config, False)
        self._log_q_prior = jax.jit(learner.log_q_prior)
        self._environments: list[Environment] = []

    def episodes(self, models: ActingModels, count: int, *, first: int = 0) -> list[Episode]:
        """Noise-free episodes number `first`, `first` + 1, …; the same number is the same reset in every run."""
        rows = min(count, self._side_by_side())
        numbers = range(first, first + count)
        played: list[Episode] = []
        for begin in range(0, count, rows):
            group = numbers[begin : begin + rows]
            keys = jnp.stack([key(0, Stream.EVALUATE, number) for number in group])
            seeds = [environment_seed(0, Stream.ENVIRONMENT_EVALUATE, number) for number in group]
            player = AgentPlayer(self._act, models, _fill_keys(keys, rows), explore=False, rows=rows)
            played += rollout(self._pool(len(group)), seeds, player)
        return played

    def held_episodes(self, models: ActingModels, skills: np.ndarray, *, repeats: int, steps: int) -> list[Episode]:
        """Each of `skills` `[n, skill_size]` held from one start for `steps` agent steps, `repeats` times in a row.

        Latents and actions are sampled, without exploration noise on top.
        """
        held = np.repeat(skills.astype(np.float32), repeats, axis=0)
        environments = self._pool(self._side_by_side())
        rows, played = len(environments), []
        for begin in range(0, len(held), rows):
            group = held[begin : begin + rows]
            keys = jnp.stack([key(0, Stream.SKILL_DISPLACEMENT, begin + i) for i in range(len(group))])
            player = AgentPlayer(self._hold, models, _fill_keys(keys, rows), explore=True, rows=rows, skills=group)
            seeds = [HELD_START] * len(group)
            played += rollout(environments[: len(group)], seeds, player, open_start=True, steps=steps)
        return played

    def held_paths(self, models: ActingModels) -> np.ndarray | None:
        """Positions `[skills, repeats, steps + 1, dims]` while each of some skills from N(0, I) is held from one start.

        None where there are no skills, or where the world records no position.
        """
        size, steps = models.skill_size, self.config.evaluation.hold_steps
        if size == 0 or "position" not in self._pool(1)[0].spec.record_shapes:
            return None
        skills = generator(0, Stream.SKILL_DISPLACEMENT).normal(size=(SKILLS, size))
        episodes = self.held_episodes(models, skills, repeats=REPEATS, steps=steps)
        return held_positions(episodes, steps).reshape(SKILLS, REPEATS, steps + 1, -1)

    def displacement(self, models: ActingModels) -> Spread | None:
        """How far apart skills end that are held from one start; None where there is nothing to tell."""
        paths = self.held_paths(models)
        return None if paths is None else spread_of_ends(paths[:, :, -1])

    def log_q_prior(self, models: ActingModels, batch: Batch) -> float | None:
        """Median log q_χ of skills z ~ N(0, I) imagined from replayed states; None where nothing predicts skills."""
        median = self._log_q_prior(models, batch, key(0, Stream.EVALUATE))
        return None if median is None else float(median)

    def close(self) -> None:
        """Close the worlds."""
        for environment in self._environments:
            environment.close()
        self._environments = []

    def _side_by_side(self) -> int:
        # Images need one renderer; worlds of features cost next to nothing.
        return 1 if self.config.environment.pixels else SIDE_BY_SIDE

    def _pool(self, count: int) -> list[Environment]:
        while len(self._environments) < count:
            self._environments.append(make_environment(self.config))
        return self._environments[:count]


def summarize(episodes: Sequence[Episode], what: str = "evaluation") -> dict[str, float]:
    """Mean and standard deviation of returns, mean length in agent steps, and how many of those that can fall stand."""
    returns = np.array([episode.reward.sum() for episode in episodes])
    lengths = np.array([episode.length - 1 for episode in episodes])
    summary = {
        f"{what}/return": float(returns.mean()),
        f"{what}/return_std": float(returns.std()),
        f"{what}/length": float(lengths.mean()),
    }
    if all("upright" in episode.record for episode in episodes):
        ends = np.array([episode.record["upright"][-1, -1, 0] for episode in episodes])
        summary[f"{what}/upright"] = float((ends > UPRIGHT).mean())
    return summary


@functools.lru_cache(maxsize=4)
def _acting(config: Config, choose_skills: bool) -> Act:
    return learner_of(config).make_act(choose_skills=choose_skills)


def _fill_keys(keys: jax.Array, rows: int) -> jax.Array:
    return keys[jnp.arange(rows) % len(keys)]


def _stay(path: np.ndarray, length: int) -> np.ndarray:
    return np.concatenate([path, np.repeat(path[-1:], length - len(path), axis=0)])
