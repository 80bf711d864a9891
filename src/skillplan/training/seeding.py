"""Randomness: every draw derives from (seed, stream, counter), so a resumed run draws what an unbroken one draws."""

import enum

import jax
import numpy as np

from skillplan.errors import UserError

LIMIT = 2**32
"""Seeds and counters lie below it: both generators then tell any two of them apart."""

_HALF = 2**30


class Stream(enum.IntEnum):
    """What a draw is for. The numbers are part of every result: never change one, give a new stream a new one."""

    INITIAL_PARAMETERS = 0
    SEED_EPISODES = 1
    COLLECT = 2
    REPLAY = 3
    UPDATE = 4
    EVALUATE = 5
    SKILL_DISPLACEMENT = 6
    ENVIRONMENT_TRAIN = 7
    ENVIRONMENT_EVALUATE = 8


MEASURING = frozenset({Stream.EVALUATE, Stream.ENVIRONMENT_EVALUATE, Stream.SKILL_DISPLACEMENT})
"""Streams whose episodes measure the agent and never train it."""


def key(seed: int, stream: Stream, counter: int = 0) -> jax.Array:
    """The JAX key of a draw, typed, shape `[]`; the same on every machine and at either precision."""
    _check(seed, counter)
    # Named, not left to JAX's setting: another generator would make a resumed run differ in silence.
    root = jax.random.key(seed, impl="threefry2x32")
    return jax.random.fold_in(jax.random.fold_in(root, int(stream)), np.uint32(counter))


def generator(seed: int, stream: Stream, counter: int = 0) -> np.random.Generator:
    """The NumPy generator of a draw."""
    _check(seed, counter)
    return np.random.default_rng([seed, int(stream), counter])


def environment_seed(seed: int, stream: Stream, counter: int = 0) -> int:
    """The seed to reset an environment with: [0, 2³⁰) for training, [2³⁰, 2³¹) where the agent is measured.

    Measuring seeds ignore the run's seed, so every run of a task is measured on the same episodes.
    """
    _check(seed, counter)
    measuring = stream in MEASURING
    entropy = np.random.SeedSequence([0 if measuring else seed, int(stream), counter])
    return int(entropy.generate_state(1)[0]) % _HALF + (_HALF if measuring else 0)


def _check(seed: int, counter: int) -> None:
    if not 0 <= seed < LIMIT:
        raise UserError(f"The seed must be a whole number from 0 to {LIMIT - 1}, not {seed}.")
    if not 0 <= counter < LIMIT:
        raise ValueError(f"A counter must lie in [0, {LIMIT}), not at {counter}.")
