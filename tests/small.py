"""What the tests of the agent share: a small world, small configurations, freshly made parts, random batches."""

import dataclasses
from collections.abc import Iterator
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from skillplan.config import Config
from skillplan.envs.interface import EnvSpec
from skillplan.models import Models, make_models
from skillplan.presets import make_config
from skillplan.types import Batch, Latent

OBSERVATION = 5
ACTION = 2
SPEC = EnvSpec(
    task="rover-field",
    observation_keys=("near", "far"),
    observation_sizes=(2, 3),
    observation_shape=(OBSERVATION,),
    pixels=False,
    action_size=ACTION,
    action_repeat=1,
    episode_frames=300,
    terminates=False,
)
PIXEL_SPEC = dataclasses.replace(
    SPEC, observation_keys=("image",), observation_sizes=(12288,), observation_shape=(64, 64, 3), pixels=True
)


@pytest.fixture(scope="module", autouse=True)
def quick_compilation() -> Iterator[None]:
    """Compiling takes nearly all of a test's time; what is compiled here runs only a few times."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


def small(agent: str = "lsp", **overrides: object) -> Config:
    """An agent of debug size for the small world."""
    return make_config("rover-field", agent, "debug", overrides)


@cache
def fresh_models(config: Config, spec_of: str = "features", seed: int = 0) -> Models:
    """Initialised parts; biases are random too, so that they count."""
    models = make_models(config, SPEC if spec_of == "features" else PIXEL_SPEC, jax.random.key(seed))
    leaves, tree = jax.tree.flatten(models)
    draws = np.random.default_rng(seed)
    shifted = [leaf + 0.1 * draws.normal(size=leaf.shape).astype(np.float32) for leaf in leaves]
    return jax.tree.unflatten(tree, shifted)


def random_latent(config: Config, seed: int = 0, *batch: int) -> Latent:
    """A latent that no sequence led to."""
    draws = np.random.default_rng(seed)
    model = config.world_model
    normal = lambda size: jnp.asarray(draws.normal(size=(*batch, size)), jnp.float32)  # noqa: E731
    return Latent(normal(model.deter), normal(model.stoch), normal(model.stoch), jnp.abs(normal(model.stoch)) + 0.1)


def random_batch(seed: int, *shape: int) -> Batch:
    """Sequences `[*shape]` that begin with an episode."""
    draws = np.random.default_rng(seed)
    first = np.zeros(shape, bool)
    first[..., 0] = True
    return Batch(
        observation=jnp.asarray(draws.normal(size=(*shape, OBSERVATION)), jnp.float32),
        action=jnp.asarray(draws.uniform(-1, 1, (*shape, ACTION)), jnp.float32),
        reward=jnp.asarray(draws.normal(size=shape), jnp.float32),
        is_first=jnp.asarray(first),
        is_terminal=jnp.zeros(shape, bool),
    )


def largest(tree: object) -> float:
    """The largest magnitude in a tree."""
    return max((float(jnp.max(jnp.abs(leaf))) for leaf in jax.tree.leaves(tree)), default=0.0)


def assert_trees_equal(left: object, right: object) -> None:
    """Bit for bit."""
    assert jax.tree.structure(left) == jax.tree.structure(right)
    for one, other in zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True):
        np.testing.assert_array_equal(one, other)


def differ(left: object, right: object) -> bool:
    """Whether any number differs."""
    pairs = zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True)
    return any(not np.array_equal(one, other) for one, other in pairs)
