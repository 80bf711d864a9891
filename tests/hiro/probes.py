"""What the tests of HIRO share: small settings, hand-made segments, networks with known outputs."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from skillplan.config import HiroConfig
from skillplan.hiro.networks import Actor, ActorCritic, TwinCritic
from skillplan.hiro.segment import Segment
from skillplan.presets import make_config
from skillplan.types import Batch
from small import ACTION, OBSERVATION, SPEC

K = 4
HIRO = HiroConfig(units=8, layers=1)


def hiro_config(**overrides):
    """HIRO of debug size, segments of four steps."""
    skill = {"duration": K} | overrides.pop("skill", {})
    return make_config("rover-field", "hiro", "debug", {"skill": skill, **overrides})


def segment_of(seed=0, steps=K, *, goal=3, happened=None, ended=False, size=OBSERVATION):
    """A segment of random numbers, `happened` steps of which happened."""
    draws = np.random.default_rng(seed)
    normal = lambda *shape: jnp.asarray(draws.normal(size=shape), jnp.float32)  # noqa: E731
    happened = steps if happened is None else happened
    mask = jnp.arange(steps) < happened
    seen = normal(steps + 1, size)[jnp.minimum(jnp.arange(steps + 1), happened)]
    return Segment(
        observation=seen,
        goal=jnp.tile(normal(1, goal), (steps, 1)),
        action=jnp.asarray(draws.uniform(-1, 1, (steps, ACTION)), jnp.float32),
        reward=normal(steps) * mask,
        happened=mask,
        ended=jnp.asarray(ended),
    )


def windows(seed, *shape, goal=3, length=K + 1):
    """Random windows of replay `[*shape, length]`, each from one episode; actions with goals behind them."""
    draws = np.random.default_rng(seed)
    shape = (*shape, length)
    goals = np.repeat(draws.normal(size=(*shape[:-1], 1, goal)), length, axis=-2)
    first = np.zeros(shape, bool)
    first[..., 0] = True
    return Batch(
        observation=jnp.asarray(draws.normal(size=(*shape, OBSERVATION)), jnp.float32),
        action=jnp.asarray(np.concatenate([draws.uniform(-1, 1, (*shape, ACTION)), goals], axis=-1), jnp.float32),
        reward=jnp.asarray(draws.normal(size=shape), jnp.float32),
        is_first=jnp.asarray(first),
        is_terminal=jnp.zeros(shape, bool),
    )


class KnownActor(Actor):
    """A policy that does what it is told."""

    function: object = eqx.field(static=True)

    def __init__(self, function):
        super().__init__(1, 1, HIRO, jax.random.key(0))
        self.function = function

    def __call__(self, inputs):
        return self.function(inputs)


class KnownCritic(TwinCritic):
    """Critics that say what they are told."""

    function: object = eqx.field(static=True)

    def __init__(self, function):
        super().__init__(1, 1, HIRO, jax.random.key(0))
        self.function = function

    def __call__(self, inputs, action):
        return self.function(inputs, action)


def known(actor, critic):
    """A level whose networks compute these functions."""
    made = ActorCritic(1, 1, HIRO, jax.random.key(0))
    return eqx.tree_at(lambda both: (both.actor, both.critic), made, (KnownActor(actor), KnownCritic(critic)))


PIXELS = dataclasses.replace(SPEC, observation_shape=(64, 64, 3), pixels=True)
