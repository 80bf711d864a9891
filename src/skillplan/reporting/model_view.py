"""Looking at a world through the world model: latents of an episode, observations it predicts, places they tell of."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from skillplan.config import Config
from skillplan.envs.interface import EnvSpec
from skillplan.envs.wrapper import RepeatedEnvironment
from skillplan.errors import UserError
from skillplan.models import Models
from skillplan.replay.episode import Episode
from skillplan.reporting.world import inner_world
from skillplan.types import Latent
from skillplan.world_model.model import WorldModel


def latent_models(models: Any, config: Config) -> Models:
    """The models, where there is a world model among them; else a sentence that says so."""
    if not isinstance(models, Models):
        raise UserError(
            f"The agent of this run, {config.agent}, has no world model, so there is nothing imagined to see."
        )
    return models


@jax.jit
def _filter(world_model: WorldModel, observation: Array, action: Array, is_first: Array) -> Latent:
    rssm = world_model.rssm
    still = jnp.zeros_like(rssm.initial().stoch)

    def step(latent: Latent, inputs: tuple[Array, Array, Array]) -> tuple[Latent, Latent]:
        seen, taken, first = inputs
        latent = world_model.observe_step(latent, taken, seen, first, still)
        return latent, latent

    return jax.lax.scan(step, rssm.initial(), (observation, action, is_first))[1]


def posterior_means(world_model: WorldModel, episode: Episode) -> Latent:
    """What an agent that does not explore knew at every step of an episode, `[T + 1, …]`."""
    arrays = (jnp.asarray(array) for array in (episode.observation, episode.action, episode.is_first))
    return _filter(world_model, *arrays)


@jax.jit
def decode(world_model: WorldModel, features: Float[Array, "n feature"]) -> tuple[Array, Array]:
    """Predicted observations `[n, …]` of latent features: mean, and mean plus one standard deviation of the decoder.

    Both as the world shows them; images are without the second, whose deviation is fixed.
    """
    predicted = jax.vmap(world_model.decoder)(features)
    mean = world_model.postprocess(predicted.mean)
    return mean, mean if world_model.pixels else world_model.postprocess(predicted.mean + predicted.std)


def decoded(world_model: WorldModel, features: Array) -> np.ndarray:
    """Mean predicted observations `[…, *observation]` of features `[…, feature]`."""
    flat = decode(world_model, jnp.asarray(features).reshape(-1, features.shape[-1]))[0]
    return np.asarray(flat).reshape(*features.shape[:-1], *flat.shape[1:])


def pieces_of(spec: EnvSpec, observation: np.ndarray) -> dict[str, np.ndarray]:
    """The named pieces `[…, size]` of flat observations `[…, total]`."""
    ends = np.cumsum(spec.observation_sizes)[:-1]
    return dict(zip(spec.observation_keys, np.split(observation, ends, axis=-1), strict=True))


def names_of(spec: EnvSpec) -> list[str]:
    """A name for every number of a flat observation."""
    return [
        name if size == 1 else f"{name} {i + 1}"
        for name, size in zip(spec.observation_keys, spec.observation_sizes, strict=True)
        for i in range(size)
    ]


def places_of(
    world: RepeatedEnvironment, observation: np.ndarray, record: Mapping[str, np.ndarray]
) -> np.ndarray | None:
    """Where observations `[…, total]` of an episode say that the agent is, `[…, 2]` (m); None where they do not."""
    inner = inner_world(world)
    if world.spec.pixels or not hasattr(inner, "observed_position"):
        return None
    return inner.observed_position(pieces_of(world.spec, observation), record["target"][0, 0])
