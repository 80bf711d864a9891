"""Playing episodes: several environments in step with each other, one player for all."""

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np

from skillplan.agent import blank_memory
from skillplan.envs.interface import Environment
from skillplan.envs.workers import begin
from skillplan.learner import Act, ActingModels
from skillplan.replay.builder import EpisodeBuilder
from skillplan.replay.episode import Episode


@runtime_checkable
class Player(Protocol):
    """Chooses actions for `n` episodes side by side."""

    def act(self, observation: np.ndarray, is_first: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Actions `[n, action_size]`, and values `[n, …]` for the record alone."""
        ...


class RandomPlayer:
    """Uniform actions in [-1, 1], for seed episodes."""

    def __init__(self, action_size: int, generators: Sequence[np.random.Generator]):
        """Draw from one generator per episode."""
        self._size, self._generators = action_size, generators

    def act(self, observation: np.ndarray, is_first: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Whatever is seen."""
        return np.stack([draw.uniform(-1, 1, self._size) for draw in self._generators]).astype(np.float32), {}


class AgentPlayer:
    """A learned agent in `rows` episodes at once; fewer episodes are filled up, so that nothing is compiled anew."""

    def __init__(
        self,
        act: Act,
        models: ActingModels,
        keys: jax.Array,
        *,
        explore: bool,
        rows: int,
        skills: np.ndarray | None = None,
    ):
        """Play with one key per row `[rows]`, on the given skills `[rows, skill_size]` if `act` does not choose any."""
        self._act, self._models, self._keys, self._rows = act, models, keys, rows
        self._explore = jnp.float32(explore)
        self._memory = blank_memory(models, rows)
        if skills is not None:
            self._memory = self._memory._replace(skill=jnp.asarray(_fill(skills, rows)))

    def act(self, observation: np.ndarray, is_first: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """What the agent does, and the skill it is carrying out."""
        count = len(observation)
        self._memory, action = self._act(
            self._models,
            self._memory,
            jnp.asarray(_fill(observation, self._rows)),
            jnp.asarray(_fill(is_first, self._rows)),
            self._keys,
            self._explore,
        )
        record = {"skill": np.asarray(self._memory.skill)[:count]} if self._memory.skill.shape[1] else {}
        return np.asarray(action)[:count], record


def rollout(
    environments: Sequence[Environment],
    seeds: Sequence[int],
    player: Player,
    *,
    open_start: bool = False,
    steps: int | None = None,
    on_step: Callable[[int], None] | None = None,
) -> list[Episode]:
    """Play one episode in each environment, to its end or for `steps` agent steps.

    `on_step` is told the frames that just passed. Environments that are done wait for the others.
    """
    resets = [begin(env, "reset", seed, open_start=open_start) for env, seed in zip(environments, seeds, strict=True)]
    now = [reset() for reset in resets]
    builders = [EpisodeBuilder(step) for step in now]
    is_first = np.ones(len(now), bool)
    taken = 0
    while not all(step.is_last for step in now) and (steps is None or taken < steps):
        actions, record = player.act(np.stack([step.observation for step in now]), is_first)
        is_first = np.zeros(len(now), bool)
        # All are asked before the first is waited for: those in processes of their own step at the same time.
        running = [i for i, step in enumerate(now) if not step.is_last]
        steps_begun = {i: begin(environments[i], "step", actions[i]) for i in running}
        for i, finish in steps_begun.items():
            now[i] = finish()
            builders[i].add(actions[i], now[i], **{name: values[i] for name, values in record.items()})
            if on_step is not None:
                on_step(now[i].frames)
        taken += 1
    return [builder.build() for builder in builders]


def _fill(rows: np.ndarray, count: int) -> np.ndarray:
    if len(rows) == count:
        return rows
    return np.concatenate([rows, np.repeat(rows[:1], count - len(rows), axis=0)])
