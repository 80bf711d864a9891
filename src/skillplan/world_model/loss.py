"""The world model's objective (paper equation 1)."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.config import WorldModelConfig
from skillplan.distributions import kl_divergence
from skillplan.types import Batch, Gaussian, Latent
from skillplan.world_model.model import WorldModel
from skillplan.world_model.rssm import feature


def kl_loss(
    posterior: Gaussian, prior: Gaussian, config: WorldModelConfig
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """β·max(free nats, mean KL(posterior ‖ prior)) and the mean KL itself; the mean over batch and time comes first.

    With `kl_balance` α: α·max(·) with the posterior held fixed plus (1 − α)·max(·) with the prior held fixed.
    """

    def clipped(p: Gaussian, q: Gaussian) -> Float[Array, ""]:
        return jnp.maximum(jnp.mean(kl_divergence(p, q)), config.free_nats)

    mean_kl = jnp.mean(kl_divergence(posterior, prior))
    if config.kl_balance is None:
        return config.kl_scale * jnp.maximum(mean_kl, config.free_nats), mean_kl
    to_prior = clipped(jax.lax.stop_gradient(posterior), prior)
    to_posterior = clipped(posterior, jax.lax.stop_gradient(prior))
    balanced = config.kl_balance * to_prior + (1 - config.kl_balance) * to_posterior
    return config.kl_scale * balanced, mean_kl


def world_model_loss(
    world_model: WorldModel, batch: Batch, key: PRNGKeyArray, config: WorldModelConfig
) -> tuple[Float[Array, ""], tuple[Latent, dict[str, Float[Array, ""]]]]:
    """−E ln q(o|s) − E ln q(r|s) + KL term, over `[batch, length]` sequences; also posterior latents and metrics."""
    keys = jax.random.split(key, len(batch.reward))
    posterior, prior = jax.vmap(world_model.observe)(batch.observation, batch.action, batch.is_first, keys)
    features = feature(posterior)
    each = lambda function: jax.vmap(jax.vmap(function))  # noqa: E731

    observation = -jnp.mean(each(world_model.decoder.log_prob)(features, world_model.preprocess(batch.observation)))
    reward = -jnp.mean(each(world_model.reward.log_prob)(features, batch.reward))
    kl_term, kl = kl_loss(Gaussian(posterior.mean, posterior.std), prior, config)
    loss = observation + reward + kl_term
    metrics = {"world_model/observation_loss": observation, "world_model/reward_loss": reward, "world_model/kl": kl}
    if world_model.continuation is not None:
        goes_on = 1.0 - batch.is_terminal.astype(jnp.float32)
        continuation = -jnp.mean(each(world_model.continuation.log_prob)(features, goes_on))
        loss = loss + continuation
        metrics["world_model/continuation_loss"] = continuation
    return loss, (posterior, metrics | {"world_model/loss": loss})
