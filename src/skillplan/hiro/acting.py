"""Acting in two levels: a goal from the high level every K steps, and the low level on it."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key, PRNGKeyArray, Shaped

from skillplan.config import Config
from skillplan.distributions import symlog
from skillplan.hiro.models import HiroMemory, HiroModels
from skillplan.learner import Act


def make_hiro_act(config: Config, *, choose_skills: bool = True) -> Act:
    """The compiled function `act(models, memory, observation, is_first, key, explore)` for `n` episodes side by side.

    `explore` 1 adds Gaussian noise to goals and actions, as TD3 does, and draws a share `skill.explore_fraction` of the
    goals from their prior; 0 does neither. `key` holds one key per episode. With `choose_skills` False the skill in
    memory is kept, a goal moves on, and no noise is added.
    """
    hiro, duration = config.hiro, config.skill.duration

    def one(
        models: HiroModels,
        memory: HiroMemory,
        observation: Float[Array, " size"],
        is_first: Bool[Array, ""],
        key: PRNGKeyArray,
        explore: Float[Array, ""],
    ) -> tuple[HiroMemory, Float[Array, " action"]]:
        goal = models.goal
        step = jnp.where(is_first, 0, memory.step)
        goal_key, mix_key, prior_key, action_key = jax.random.split(jax.random.fold_in(key, step), 4)
        onward = goal.onward(memory.skill, memory.observation, observation)
        held = jnp.where(is_first, memory.skill, onward)
        if choose_skills:
            noise = explore * hiro.goal_noise * jax.random.normal(goal_key, (goal.size,))
            chosen = goal.bound * jnp.clip(models.high.actor(observation) + noise, -1.0, 1.0)
            from_prior = explore * jax.random.bernoulli(mix_key, config.skill.explore_fraction)
            chosen = chosen + from_prior * (goal.prior(prior_key) - chosen)
            held = jnp.where(step % duration == 0, chosen, held)
        action = models.low.actor(jnp.concatenate([observation, held]))
        if choose_skills:
            action = action + explore * hiro.action_noise * jax.random.normal(action_key, action.shape)
        return HiroMemory(held, observation, step + 1), jnp.clip(action, -1.0, 1.0)

    def act(
        models: HiroModels,
        memory: HiroMemory,
        observation: Shaped[Array, "n size"],
        is_first: Bool[Array, " n"],
        key: Key[Array, " n"],
        explore: Float[Array, ""],
    ) -> tuple[HiroMemory, Float[Array, "n action"]]:
        each = jax.vmap(one, in_axes=(None, 0, 0, 0, 0, None))
        return each(models, memory, symlog(observation), is_first, key, explore)

    return jax.jit(act)
