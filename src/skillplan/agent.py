"""Acting: the posterior follows what is seen, a skill is chosen every K steps, the policy carries it out."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key, PRNGKeyArray, Shaped

from skillplan.config import Config
from skillplan.envs.interface import EnvSpec
from skillplan.errors import UserError
from skillplan.learner import Act, ActingModels
from skillplan.models import Models
from skillplan.types import Latent, Memory
from skillplan.world_model.rssm import feature


def blank_memory(models: ActingModels, episodes: int) -> Any:
    """Memory of `episodes` episodes before their first observations; its content is ignored there."""
    return jax.tree.map(lambda x: jnp.zeros((episodes, *x.shape), x.dtype), models.blank_memory())


def step_keys(key: PRNGKeyArray, step: Int[Array, ""]) -> tuple[PRNGKeyArray, PRNGKeyArray, PRNGKeyArray]:
    """The keys of one agent step of an episode that has `key`: to search for a plan, to decide on it, for noise."""
    plan_key, noise_key = jax.random.split(jax.random.fold_in(key, step))
    select_key, decide_key = jax.random.split(plan_key)
    return select_key, decide_key, noise_key


def make_act(config: Config, *, choose_skills: bool = True) -> Act:
    """The compiled function `act(models, memory, observation, is_first, key, explore)` for `n` episodes side by side.

    `explore` 1 samples posterior, skill and action, and adds the paper's skill noise and exploration noise; a share
    `skill.explore_fraction` of the skills comes from N(0, I) then. 0 takes the posterior's mean, the plan's mean and
    tanh of the policy's mean. `key` holds one key per episode. With
    `choose_skills` False the skill in memory is kept and no exploration noise is added, to see what each skill does.
    """
    duration, fraction = config.skill.duration, config.skill.explore_fraction
    exploration_noise = config.policy.exploration_noise if choose_skills else 0.0

    def plan(
        models: Models, latent: Latent, select_key: PRNGKeyArray, decide_key: PRNGKeyArray, explore: Float[Array, ""]
    ) -> Float[Array, " skill"]:
        distribution = models.selection.select_to_act(models.score(latent, config), feature(latent), select_key)
        skill = models.selection.decide(distribution, decide_key, explore)
        if fraction == 0:
            return skill
        mix_key, prior_key = jax.random.split(jax.random.fold_in(decide_key, 1))
        from_prior = explore * jax.random.bernoulli(mix_key, fraction)
        return jnp.where(from_prior > 0, jax.random.normal(prior_key, skill.shape), skill)

    def draws(
        key: PRNGKeyArray, step: Array, stoch: int, size: int
    ) -> tuple[PRNGKeyArray, PRNGKeyArray, Array, Array, Array]:
        select_key, decide_key, noise_key = step_keys(key, step)
        normal = jax.random.normal(noise_key, (stoch + 2 * size,))
        return select_key, decide_key, normal[:stoch], normal[stoch : stoch + size], normal[stoch + size :]

    def act(
        models: Models,
        memory: Memory,
        observation: Shaped[Array, "n ..."],
        is_first: Bool[Array, " n"],
        key: Key[Array, " n"],
        explore: Float[Array, ""],
    ) -> tuple[Memory, Float[Array, "n action"]]:
        step = jnp.where(is_first, 0, memory.step)
        sizes = memory.latent.stoch.shape[1], memory.action.shape[1]
        drawn = jax.vmap(lambda k, s: draws(k, s, *sizes))(key, step)
        select_keys, decide_keys, latent_noise, action_noise, exploration = drawn
        latent = jax.vmap(models.world_model.observe_step)(
            memory.latent, memory.action, observation, is_first, explore * latent_noise
        )
        skill = memory.skill
        if choose_skills and models.selection.skill_size:
            due = step % duration == 0
            chosen = jax.lax.cond(
                jnp.any(due),
                lambda: jax.vmap(lambda s, k, d: plan(models, s, k, d, explore))(latent, select_keys, decide_keys),
                lambda: skill,
            )
            skill = jnp.where(due[:, None], chosen, skill)
        action, _ = jax.vmap(models.policy.act)(feature(latent), skill, explore * action_noise)
        action = jnp.clip(action + explore * exploration_noise * exploration, -1.0, 1.0)
        return Memory(latent, action, skill, step + 1), action

    return jax.jit(act)


class Agent:
    """A trained agent, ready to act: `reset()` at the start of an episode, then `act(observation)` at every step."""

    def __init__(self, models: ActingModels, config: Config, spec: EnvSpec, *, seed: int = 0):
        """Act with `models` in worlds like `spec`; `seed` drives what planning draws."""
        from skillplan.learners import learner_of  # they act through this module

        self.models, self.config, self.spec = models, config, spec
        self._act = learner_of(config).make_act()
        self._root = jax.random.key(seed)
        self._episode = -1
        self.reset()

    def reset(self) -> None:
        """Forget the episode so far."""
        self._episode += 1
        self._memory = blank_memory(self.models, 1)
        self._is_first = True

    def act(self, observation: np.ndarray | Mapping[str, np.ndarray], *, explore: bool = False) -> np.ndarray:
        """The action `[action_size]` in [-1, 1] for what is seen now, held for `spec.action_repeat` frames.

        The observation is a flat array of `spec.observation_shape`, or a dictionary with `spec.observation_keys`.
        """
        key = jax.random.fold_in(self._root, self._episode)
        self._memory, action = self._act(
            self.models,
            self._memory,
            jnp.asarray(self._flat(observation)[None]),
            jnp.array([self._is_first]),
            key[None],
            jnp.float32(explore),
        )
        self._is_first = False
        return np.asarray(action[0])

    @property
    def skill(self) -> np.ndarray:
        """The skill that is being carried out, `[skill_size]`."""
        return np.asarray(self._memory.skill[0])

    def _flat(self, observation: np.ndarray | Mapping[str, np.ndarray]) -> np.ndarray:
        if isinstance(observation, Mapping):
            missing = [name for name in self.spec.observation_keys if name not in observation]
            if missing:
                raise UserError(
                    f"The observation lacks {', '.join(missing)}: give all of {', '.join(self.spec.observation_keys)}."
                )
            pieces = [np.asarray(observation[name]) for name in self.spec.observation_keys]
            observation = pieces[0] if self.spec.pixels else np.concatenate([np.ravel(p) for p in pieces])
        array = np.asarray(observation, np.uint8 if self.spec.pixels else np.float32)
        if array.shape != self.spec.observation_shape:
            raise UserError(
                f"The observation has shape {array.shape}, but this agent was trained on {self.spec.observation_shape}."
            )
        return array
