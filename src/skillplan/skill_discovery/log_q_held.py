"""How well skills can be told apart that were held in the world: log q_χ over the marginal."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.distributions import normal_log_prob
from skillplan.models import Models
from skillplan.skill_discovery.intrinsic_reward import read_segments
from skillplan.types import Batch, Gaussian
from skillplan.world_model.rssm import feature


def log_q_over_marginal(
    models: Models, batch: Batch, skills: Float[Array, "episodes skill"], key: PRNGKeyArray
) -> Float[Array, " episodes"] | None:
    """ln q_χ(z | segment) − ln N(z; 0, I), the mean over the whole segments of each episode that held one skill.

    With skills that cover N(0, I), its mean bounds I(z; {s} | s_0) from below (paper section 3.2), in nats. The
    episodes are sequences `[episodes, steps + 1]` from their resets. None where no skill is predicted, or where the
    episodes are shorter than a segment.
    """
    predictor = models.predictor
    if predictor is None or batch.reward.shape[1] <= predictor.segment:
        return None

    def one(episode: Batch, skill: Float[Array, " skill"], k: PRNGKeyArray) -> Float[Array, ""]:
        observe_key, predictor_key = jax.random.split(k)
        latents, _ = models.world_model.observe(episode.observation, episode.action, episode.is_first, observe_key)
        states = feature(latents)
        steps = len(states) - 1
        plan = jnp.broadcast_to(skill, (steps // predictor.segment, len(skill)))
        segments = read_segments(
            predictor, models.world_model, states[0], states[1:], plan, predictor.segment, predictor_key
        )
        marginal = normal_log_prob(skill, Gaussian(jnp.zeros_like(skill), jnp.ones_like(skill)))
        return jnp.mean(jax.vmap(predictor.log_prob)(segments.inputs, segments.skill)) - marginal

    return jax.vmap(one)(batch, skills, jax.random.split(key, len(skills)))
