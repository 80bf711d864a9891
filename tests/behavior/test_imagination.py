"""Which skill acts when, and what imagination is made of."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from skillplan.behavior.imagination import draw_noise, imagine, skill_at_each_step
from skillplan.world_model.rssm import feature
from small import ACTION, fresh_models, quick_compilation, random_latent, small  # noqa: F401

CONFIG = small()
LENGTH, DURATION = 5, 2
PLAN = jnp.asarray(np.random.default_rng(0).normal(size=(3, 3)), jnp.float32)


@pytest.mark.parametrize(
    ("plans", "length", "duration", "expected"),
    [
        (1, 10, 10, [0] * 10),
        (3, 6, 2, [0, 0, 1, 1, 2, 2]),
        (3, 7, 3, [0, 0, 0, 1, 1, 1, 2]),  # the last skill is held shorter
        (4, 4, 1, [0, 1, 2, 3]),
        (2, 7, 2, [0, 0, 1, 1, 1, 1, 1]),  # the plan is too short
    ],
)
def test_skill_k_acts_from_step_k_times_its_duration(plans, length, duration, expected):
    plan = jnp.stack([jnp.arange(plans), -jnp.arange(plans)], axis=1).astype(jnp.float32)
    np.testing.assert_array_equal(skill_at_each_step(plan, length, duration)[:, 0], expected)


@pytest.fixture(scope="module")
def run():
    """Imagine with a compiled function of start and plan; the noise is always the same."""
    models = fresh_models(CONFIG)
    noise = draw_noise(jax.random.key(3), LENGTH, ACTION, CONFIG.world_model.stoch)
    return jax.jit(lambda start, plan: imagine(models.world_model, models.policy, start, plan, DURATION, noise)), noise


def test_imagination_is_a_loop_of_policy_and_dynamics(run):
    imagined, noise = run
    models = fresh_models(CONFIG)
    latent = random_latent(CONFIG)
    trajectory = imagined(latent, PLAN)
    for t in range(LENGTH):
        action, entropy = models.policy.act(feature(latent), PLAN[t // DURATION], noise.action[t])
        latent = models.world_model.rssm.imagine_step(latent, action, noise.latent[t])
        np.testing.assert_allclose(trajectory.action[t], action, atol=1e-5)
        np.testing.assert_allclose(trajectory.entropy[t], entropy, atol=1e-4)
        np.testing.assert_allclose(trajectory.feature[t], feature(latent), atol=1e-5)


def test_a_skill_changes_nothing_before_it_acts(run):
    imagined, _ = run
    start = random_latent(CONFIG)
    before = imagined(start, PLAN)
    for k in range(3):
        after = imagined(start, PLAN.at[k].add(1.0))
        same = [bool(jnp.all(a == b)) for a, b in zip(before.action, after.action, strict=True)]
        assert same[: k * DURATION] == [True] * (k * DURATION)
        assert not any(same[k * DURATION :])


def test_gradient_reaches_actions_through_the_dynamics_alone(run):
    imagined, _ = run
    jacobian = jax.jacobian(lambda start: imagined(start, PLAN))(random_latent(CONFIG))
    # The policy sees each latent, but passes no gradient on.
    assert not jacobian.action.deter.any()
    assert not jacobian.action.stoch.any()
    for t in range(LENGTH):
        assert jacobian.feature.deter[t].any()


def test_the_noise_is_standard_normal_and_independent():
    noise = draw_noise(jax.random.key(0), 500, 3, 5)
    both = np.concatenate([noise.action, noise.latent], axis=1)
    assert (noise.action.shape, noise.latent.shape) == ((500, 3), (500, 5))
    np.testing.assert_allclose(np.corrcoef(both.T), np.eye(8), atol=0.2)
    np.testing.assert_allclose(both.std(0), 1, atol=0.15)
