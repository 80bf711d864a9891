"""H({s} | s_0) − H({s} | z, s_0) by the world model's own densities (appendix, "Note on Mutual Information")."""

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.behavior.imagination import Trajectory
from skillplan.behavior.policy import Policy, SkillAsAction
from skillplan.config import Config
from skillplan.distributions import normal_log_prob
from skillplan.skill_discovery.base import Discovered
from skillplan.skill_discovery.intrinsic_reward import reward_places, segment_starts
from skillplan.skill_discovery.predictor import SkillPredictor
from skillplan.types import Latent
from skillplan.world_model.model import WorldModel
from skillplan.world_model.rssm import feature


def information(
    log_density: Callable[[Float[Array, " skill"]], Float[Array, ""]],
    skill: Float[Array, " skill"],
    others: Float[Array, "others skill"],
) -> Float[Array, ""]:
    """log p(x | z) − log (1/L) Σ_l p(x | z_l), from the log-density of what happened under any skill.

    The L skills are the realised one and the `others`, drawn like it. So the estimate never exceeds log L, and its mean
    is at most the mutual information, which it approaches as L grows.
    """
    densities = jax.vmap(log_density)(jnp.concatenate([skill[None], others]))
    return densities[0] - jax.nn.logsumexp(densities) + math.log(len(densities))


def segment_log_density(
    world_model: WorldModel,
    policy: Policy | SkillAsAction,
    states: Latent,
    following: Float[Array, "segment stoch"],
    skill: Float[Array, " skill"],
) -> Float[Array, ""]:
    """log Π_t p(stoch_{t+1} | s_t, a_t) with a_t the policy's mean action under `skill` in the realised latent s_t.

    The action must be the skill's own: given the realised one, the density would be the same for all skills. And
    `deter` follows from latent and action without chance, so that only `stoch` has a density.
    """

    def step(latent: Latent, stoch: Float[Array, " stoch"]) -> Float[Array, ""]:
        action, _ = policy.act(feature(latent), skill, jnp.zeros(policy.action_size))
        return normal_log_prob(stoch, world_model.rssm.prior(world_model.rssm.remember(latent, action)))

    return jnp.sum(jax.vmap(step)(states, following))


def forward_information(
    predictor: SkillPredictor | None,
    world_model: WorldModel,
    policy: Policy | SkillAsAction,
    start: Latent,
    trajectory: Trajectory,
    plan: Float[Array, "plan_length skill"],
    duration: int,
    key: PRNGKeyArray,
    config: Config,
) -> Discovered:
    """The information of each whole skill, placed like the backward estimate; there is no predictor to train.

    The other L − 1 skills are drawn from N(0, I).
    """
    states = jax.tree.map(lambda first, later: jnp.concatenate([first[None], later]), start, trajectory.latent)
    length, segment = len(trajectory.feature), config.skill.training_segment
    starts = segment_starts(length, duration, segment)

    def one(begin: int, segment_key: PRNGKeyArray) -> Float[Array, ""]:
        before = jax.tree.map(lambda x: x[begin : begin + segment], states)
        after = states.stoch[begin + 1 : begin + 1 + segment]
        others = jax.random.normal(segment_key, (config.discovery.compared_skills - 1, plan.shape[1]))
        log_density = lambda skill: segment_log_density(world_model, policy, before, after, skill)  # noqa: E731
        return information(log_density, plan[begin // duration], others)

    keys = jax.random.split(key, len(starts))
    found = jnp.stack([one(begin, segment_key) for begin, segment_key in zip(starts, keys, strict=True)])
    places = np.asarray(reward_places(length, duration, segment))
    return Discovered(jnp.zeros(length).at[places].add(found), jnp.mean(found), jnp.zeros(()))
