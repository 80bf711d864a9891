"""Which segments are read, and which imagined states are paid for them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from skillplan.skill_discovery.intrinsic_reward import (
    Segments,
    intrinsic_rewards,
    read_segments,
    reward_places,
    segment_starts,
)
from skillplan.world_model.model import feature_size
from small import fresh_models, quick_compilation, small  # noqa: F401

SIZE = feature_size(small())


@pytest.mark.parametrize(
    ("length", "duration", "segment", "starts", "paid"),
    [
        # `paid` counts imagined states from 1; the last one enters no return, so the one before is paid instead.
        (10, 10, 10, [0], [9]),
        (20, 10, 10, [0, 10], [10, 19]),
        (25, 10, 10, [0, 10], [10, 20]),  # the last five steps are no whole skill
        (15, 10, 10, [0], [10]),
        (12, 4, 4, [0, 4, 8], [4, 8, 11]),
        (3, 1, 1, [0, 1, 2], [1, 2, 2]),
        (60, 30, 10, [0, 30], [10, 40]),  # skills are held longer than the predictor reads
        (40, 30, 10, [0, 30], [10, 39]),
    ],
)
def test_reward_places(length, duration, segment, starts, paid):
    assert segment_starts(length, duration, segment) == starts
    np.testing.assert_array_equal(reward_places(length, duration, segment) + 1, paid)


@pytest.fixture(scope="module")
def models():
    return fresh_models(small(skill={"segment_length": 2}))


def test_segments_are_cut_where_skills_begin(models):
    length, duration = 7, 3
    start, features = jnp.full(SIZE, -1.0), jnp.arange(7.0)[:, None] * jnp.ones((1, SIZE))
    plan = jnp.arange(9.0).reshape(3, 3)
    segments = read_segments(models.predictor, models.world_model, start, features, plan, duration, jax.random.key(0))
    # Feature i is that of imagined state i + 1. A skill begins at steps 0, 3 and 6; the last one is not whole.
    numbers = segments.inputs.reshape(2, 3, SIZE)[:, :, 0]
    np.testing.assert_array_equal(numbers, [[-1, 0, 1], [2, 3, 4]])
    np.testing.assert_array_equal(segments.skill, plan[:2])
    assert len(segments.skill) == len(segment_starts(length, duration, 2))


def test_the_reward_is_log_q_in_its_place(models):
    draws = np.random.default_rng(0)
    segments = Segments(
        jnp.asarray(draws.normal(size=(2, 3 * SIZE)), jnp.float32), jnp.asarray(draws.normal(size=(2, 3)), jnp.float32)
    )
    reward, mean = intrinsic_rewards(models.predictor, segments, 5, 3)
    log_q = [models.predictor.log_prob(i, z) for i, z in zip(segments.inputs, segments.skill, strict=True)]
    np.testing.assert_allclose(reward, [0, log_q[0], 0, log_q[1], 0], rtol=1e-5)
    np.testing.assert_allclose(mean, np.mean(log_q), rtol=1e-5)


def test_two_skills_paid_at_one_state_add_up():
    models = fresh_models(small(skill={"duration": 1}))
    segments = Segments(jnp.zeros((3, 2 * SIZE)), jnp.zeros((3, 3)))
    reward, mean = intrinsic_rewards(models.predictor, segments, 3, 1)
    np.testing.assert_allclose(reward, [mean, 2 * mean, 0], rtol=1e-5)
