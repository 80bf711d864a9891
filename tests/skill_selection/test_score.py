"""A plan's score against sums over the imagined states."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from skillplan.behavior.imagination import draw_noise, imagine
from skillplan.skill_discovery.intrinsic_reward import reward_places
from skillplan.world_model.rssm import feature
from small import ACTION, fresh_models, quick_compilation, random_latent, small  # noqa: F401

HORIZON, DURATION = 5, 2
PLAN = jnp.asarray(np.random.default_rng(2).normal(size=(3, 3)), jnp.float32)


def config_of(lam, objective="task", **world_model):
    return small(
        planner={"horizon": HORIZON, "plan_lambda": lam, "objective": objective},
        skill={"duration": DURATION},
        discovery={"intrinsic_scale": 1.7},
        world_model=world_model,
    )


def imagined(config):
    """Rewards, discounts and values of the five imagined states, and log q of the two whole skills."""
    models, start = fresh_models(config), random_latent(config)
    noise_key, predictor_key = jax.random.split(jax.random.key(9))
    noise = draw_noise(noise_key, HORIZON, ACTION, config.world_model.stoch)
    trajectory = jax.jit(lambda: imagine(models.world_model, models.policy, start, PLAN, DURATION, noise))()
    states = trajectory.feature
    discount = 0.99 * np.array([models.world_model.goes_on(s) for s in states])
    log_q = []
    assert models.predictor is not None
    for begin, key in zip((0, 2), jax.random.split(predictor_key, 2), strict=True):
        before = feature(start) if begin == 0 else states[begin - 1]
        inputs = models.predictor.inputs(models.world_model, before, states[begin : begin + 2], key)
        log_q.append(stats.norm.logpdf(PLAN[begin // 2], *models.predictor(inputs)).sum())
    reward = np.array([models.world_model.reward(s) for s in states])
    return reward, discount, np.array([models.value(s) for s in states]), log_q


def score(config):
    run = jax.jit(lambda: fresh_models(config).score(random_latent(config), config)(PLAN, jax.random.key(9)))
    return run()


def test_with_lambda_one_it_is_the_discounted_rewards_and_the_last_value():
    config = config_of(1.0)
    reward, _, value, _ = imagined(config)
    # Four of the five rewards: the value of the fifth state stands for its reward too.
    expected = sum(0.99**t * reward[t] for t in range(4)) + 0.99**4 * value[4]
    np.testing.assert_allclose(score(config), expected, rtol=1e-4)


@pytest.mark.parametrize("continuation", [False, True])
def test_with_a_smaller_lambda_it_is_the_lambda_return(continuation):
    config = config_of(0.6, continuation=continuation)
    reward, discount, value, _ = imagined(config)
    assert (discount < 0.95).all() == continuation
    following = value[4]
    for t in (3, 2, 1, 0):
        following = reward[t] + discount[t] * (0.4 * value[t + 1] + 0.6 * following)
    np.testing.assert_allclose(score(config), following, rtol=1e-4)


def test_the_total_objective_adds_the_intrinsic_reward_of_whole_skills():
    task, total = config_of(1.0), config_of(1.0, "total")
    _, _, _, log_q = imagined(task)
    np.testing.assert_array_equal(reward_places(HORIZON, DURATION, DURATION), [1, 3])
    expected = 1.7 * (0.99 * log_q[0] + 0.99**3 * log_q[1])
    np.testing.assert_allclose(score(total) - score(task), expected, rtol=1e-3)
