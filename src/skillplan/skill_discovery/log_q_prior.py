"""How well skills can be told apart that no planner chose: log q_χ of skills from N(0, I)."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.behavior.imagination import draw_noise, imagine
from skillplan.models import Models
from skillplan.skill_discovery.intrinsic_reward import read_segments
from skillplan.types import Batch, Latent
from skillplan.world_model.rssm import feature

PROBE_STATES = 256


def log_q_prior(models: Models, batch: Batch, key: PRNGKeyArray) -> Float[Array, ""] | None:
    """Median over replayed states of log q_χ(z | imagined segment) for z ~ N(0, I); −4.26 is guessing in 3-d.

    None where no skill is predicted.
    """
    predictor = models.predictor
    if predictor is None:
        return None
    observe_key, imagine_key = jax.random.split(key)
    keys = jax.random.split(observe_key, len(batch.reward))
    posterior, _ = jax.vmap(models.world_model.observe)(batch.observation, batch.action, batch.is_first, keys)
    latents = jax.tree.map(lambda x: x.reshape(-1, x.shape[-1])[:PROBE_STATES], posterior)
    duration = predictor.segment

    def one(latent: Latent, k: PRNGKeyArray) -> Float[Array, ""]:
        skill_key, noise_key, predictor_key = jax.random.split(k, 3)
        plan = jax.random.normal(skill_key, (1, models.selection.skill_size))
        noise = draw_noise(noise_key, duration, models.policy.action_size, latent.stoch.shape[0])
        trajectory = imagine(models.world_model, models.policy, latent, plan, duration, noise)
        segments = read_segments(
            predictor, models.world_model, feature(latent), trajectory.feature, plan, duration, predictor_key
        )
        return predictor.log_prob(segments.inputs[0], plan[0])

    return jnp.median(jax.vmap(one)(latents, jax.random.split(imagine_key, len(latents.deter))))
