"""The world model: everything that is learned from observed sequences."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray, Shaped

from skillplan.config import Config
from skillplan.distributions import symexp, symlog
from skillplan.envs.interface import EnvSpec
from skillplan.types import Gaussian, Latent
from skillplan.world_model.decoder import FeatureDecoder, PixelDecoder
from skillplan.world_model.encoder import FeatureEncoder, PixelEncoder
from skillplan.world_model.heads import ContinuationHead, RewardHead
from skillplan.world_model.rssm import RSSM


class WorldModel(eqx.Module):
    """Encoder, RSSM, decoder and heads, on single states."""

    encoder: FeatureEncoder | PixelEncoder
    rssm: RSSM
    decoder: FeatureDecoder | PixelDecoder
    reward: RewardHead
    continuation: ContinuationHead | None
    pixels: bool = eqx.field(static=True)
    symlog: bool = eqx.field(static=True)

    def __init__(self, config: Config, spec: EnvSpec, key: PRNGKeyArray):
        keys = jax.random.split(key, 5)
        model, network = config.world_model, config.network
        size = feature_size(config)
        if spec.pixels:
            self.encoder = PixelEncoder(model, network, keys[0])
            self.decoder = PixelDecoder(size, model, network, keys[2])
        else:
            (observation,) = spec.observation_shape
            self.encoder = FeatureEncoder(observation, model, network, keys[0])
            self.decoder = FeatureDecoder(size, observation, model, network, keys[2])
        self.rssm = RSSM(model, network, self.encoder.embed_size, spec.action_size, keys[1])
        self.reward = RewardHead(size, model, network, keys[3])
        self.continuation = ContinuationHead(size, model, network, keys[4]) if model.continuation else None
        self.pixels, self.symlog = spec.pixels, model.symlog

    def preprocess(self, observation: Shaped[Array, "..."]) -> Float[Array, "..."]:
        """The observation as the networks see it: images in [-0.5, 0.5], features squashed if asked."""
        if self.pixels:
            return observation.astype(jnp.float32) / 255.0 - 0.5
        return symlog(observation) if self.symlog else observation

    def postprocess(self, seen: Float[Array, "..."]) -> Float[Array, "..."]:
        """The inverse: what the networks see or predict, as the world would show it; images from 0 to 255."""
        if self.pixels:
            return jnp.clip((seen + 0.5) * 255.0, 0.0, 255.0)
        return symexp(seen) if self.symlog else seen

    def observe(
        self,
        observations: Shaped[Array, "length ..."],
        actions: Float[Array, "length action"],
        is_first: Bool[Array, " length"],
        key: PRNGKeyArray,
    ) -> tuple[Latent, Gaussian]:
        """Posterior latents and priors of one sequence, `[length, …]`."""
        embeds = jax.vmap(self.encoder)(self.preprocess(observations))
        return self.rssm.observe(embeds, actions, is_first, key)

    def observe_step(
        self,
        latent: Latent,
        action: Float[Array, " action"],
        observation: Shaped[Array, "..."],
        is_first: Bool[Array, ""],
        noise: Float[Array, " stoch"],
    ) -> Latent:
        """The latent after one more action and observation; zero `noise` gives the posterior's mean."""
        return self.rssm.observe_step(latent, action, self.encoder(self.preprocess(observation)), is_first, noise)

    def goes_on(self, feature: Float[Array, " feature"]) -> Float[Array, ""]:
        """Probability that the episode does not end here; one where nothing terminates."""
        return jnp.ones(()) if self.continuation is None else self.continuation(feature)


def feature_size(config: Config) -> int:
    """Numbers in a latent feature."""
    return config.world_model.stoch + config.world_model.deter
