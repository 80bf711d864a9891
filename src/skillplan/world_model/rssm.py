"""Recurrent state-space model: the prior that imagines and the posterior that observes (paper section 2.1)."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from skillplan.config import NetworkConfig, WorldModelConfig
from skillplan.networks import GRU, Dense, Hidden
from skillplan.types import Gaussian, Latent

MIN_STD = 0.1


def feature(latent: Latent) -> Float[Array, "*b feature"]:
    """What the heads, the policy and the value read of a latent: [stoch, deter]."""
    return jnp.concatenate([latent.stoch, latent.deter], axis=-1)


class RSSM(eqx.Module):
    """Dreamer's recurrent state-space model on single states.

    Prior: [stoch, action] → dense → GRU → dense → Gaussian. Posterior: [deter, embedding] → dense → Gaussian.
    """

    before_memory: Hidden
    memory: GRU
    prior_hidden: Hidden
    prior_output: Dense
    posterior_hidden: Hidden
    posterior_output: Dense

    def __init__(
        self, config: WorldModelConfig, network: NetworkConfig, embed: int, action_size: int, key: PRNGKeyArray
    ):
        keys = jax.random.split(key, 6)
        self.before_memory = Hidden(config.stoch + action_size, config.hidden, network, keys[0])
        self.memory = GRU(config.hidden, config.deter, network, keys[1])
        self.prior_hidden = Hidden(config.deter, config.hidden, network, keys[2])
        self.prior_output = Dense(config.hidden, 2 * config.stoch, keys[3])
        self.posterior_hidden = Hidden(config.deter + embed, config.hidden, network, keys[4])
        self.posterior_output = Dense(config.hidden, 2 * config.stoch, keys[5])

    def initial(self) -> Latent:
        """The latent before anything is known: zeros."""
        deter = jnp.zeros(self.prior_hidden.dense.weight.shape[0])
        stoch = jnp.zeros(self.prior_output.weight.shape[1] // 2)
        return Latent(deter, stoch, stoch, stoch)

    def remember(self, latent: Latent, action: Float[Array, " action"]) -> Float[Array, " deter"]:
        """The deterministic part one step on."""
        x = self.before_memory(jnp.concatenate([latent.stoch, action]))
        return self.memory(x, latent.deter)

    def prior(self, deter: Float[Array, " deter"]) -> Gaussian:
        """The stochastic part as foreseen: the paper's q_θ(s_t | s_{t−1}, a_{t−1})."""
        return self._gaussian(self.prior_output(self.prior_hidden(deter)))

    def posterior(self, deter: Float[Array, " deter"], embed: Float[Array, " embed"]) -> Gaussian:
        """The stochastic part given what was seen: the paper's p_θ(s_t | s_{t−1}, a_{t−1}, o_t)."""
        return self._gaussian(self.posterior_output(self.posterior_hidden(jnp.concatenate([deter, embed]))))

    def imagine_step(self, latent: Latent, action: Float[Array, " action"], noise: Float[Array, " stoch"]) -> Latent:
        """The next latent, drawn from the prior with the given standard normal noise."""
        deter = self.remember(latent, action)
        return _sample(deter, self.prior(deter), noise)

    def observe_step(
        self,
        latent: Latent,
        action: Float[Array, " action"],
        embed: Float[Array, " embed"],
        is_first: Bool[Array, ""],
        noise: Float[Array, " stoch"],
    ) -> Latent:
        """The next latent, drawn from the posterior; at the first step of an episode nothing before it counts."""
        latent = jax.tree.map(lambda start, x: jnp.where(is_first, start, x), self.initial(), latent)
        deter = self.remember(latent, jnp.where(is_first, jnp.zeros_like(action), action))
        return _sample(deter, self.posterior(deter, embed), noise)

    def observe(
        self,
        embeds: Float[Array, "length embed"],
        actions: Float[Array, "length action"],
        is_first: Bool[Array, " length"],
        key: PRNGKeyArray,
    ) -> tuple[Latent, Gaussian]:
        """Posterior latents of a sequence, and the priors that foresaw them, both `[length, …]`."""
        start = self.initial()
        noise = jax.random.normal(key, (len(embeds), len(start.stoch)))

        def step(latent: Latent, inputs: tuple[Array, Array, Array, Array]) -> tuple[Latent, Latent]:
            action, embed, first, step_noise = inputs
            latent = self.observe_step(latent, action, embed, first, step_noise)
            return latent, latent

        _, posterior = jax.lax.scan(step, start, (actions, embeds, is_first, noise))
        return posterior, jax.vmap(self.prior)(posterior.deter)

    @staticmethod
    def _gaussian(raw: Float[Array, " twice"]) -> Gaussian:
        mean, std = jnp.split(raw, 2)
        return Gaussian(mean, jax.nn.softplus(std) + MIN_STD)


def _sample(deter: Float[Array, " deter"], gaussian: Gaussian, noise: Float[Array, " stoch"]) -> Latent:
    return Latent(deter, gaussian.mean + gaussian.std * noise, gaussian.mean, gaussian.std)
