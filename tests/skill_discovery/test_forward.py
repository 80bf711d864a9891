"""Mutual information from densities: a linear-Gaussian case with a known value, its bound, the world model's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from skillplan.behavior.imagination import draw_noise, imagine
from skillplan.behavior.loss import Start, imagined_losses
from skillplan.distributions import normal_log_prob
from skillplan.skill_discovery.forward import forward_information, information
from skillplan.types import Gaussian
from skillplan.world_model.rssm import feature
from small import ACTION, fresh_models, largest, quick_compilation, random_latent, small  # noqa: F401

GAIN = jnp.array([[1.0, 0.0], [0.5, 0.8]])
STD = 0.7


def estimate(count, draws=2000):
    """Mean estimate where x = GAIN z + noise, from `count` skills, the realised one included."""

    def one(key):
        skill_key, noise_key, other_key = jax.random.split(key, 3)
        skill = jax.random.normal(skill_key, (2,))
        x = GAIN @ skill + STD * jax.random.normal(noise_key, (2,))
        log_density = lambda z: normal_log_prob(x, Gaussian(GAIN @ z, jnp.full(2, STD)))  # noqa: E731
        return information(log_density, skill, jax.random.normal(other_key, (count - 1, 2)))

    return np.asarray(jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(0), draws)))


def test_a_linear_gaussian_case_has_the_known_information():
    known = 0.5 * np.log(np.linalg.det(np.eye(2) + np.asarray(GAIN @ GAIN.T) / STD**2))
    found = estimate(1000)
    assert 1.0 < known < 1.5
    # Two thousand draws: the standard error is about 0.02.
    np.testing.assert_allclose(found.mean(), known, atol=0.06)


def test_few_skills_give_a_lower_bound_that_grows_with_them():
    means = [estimate(count).mean() for count in (2, 8, 1000)]
    assert means == sorted(means)
    for count in (2, 8):
        assert estimate(count).max() <= np.log(count) + 1e-5


def test_skills_that_change_nothing_carry_no_information():
    found = information(lambda skill: jnp.float32(-12.5), jnp.ones(3), jnp.zeros((7, 3)))
    np.testing.assert_allclose(found, 0.0, atol=1e-6)


CONFIG = small("random-skills", skill={"duration": 3}, discovery={"intrinsic": "forward", "compared_skills": 4})
PLAN = jnp.asarray(np.random.default_rng(1).normal(size=(2, 3)), jnp.float32)


def the_key():
    return jax.random.key(5)


def discovered(models, policy, length=7):
    noise = draw_noise(jax.random.key(2), length, ACTION, CONFIG.world_model.stoch)
    start = random_latent(CONFIG)
    trajectory = imagine(models.world_model, policy, start, PLAN, 3, noise)
    return trajectory, forward_information(
        models.predictor, models.world_model, policy, start, trajectory, PLAN, 3, the_key(), CONFIG
    )


def test_it_is_the_log_ratio_of_the_models_densities_of_each_whole_skill():
    models = fresh_models(CONFIG)
    assert models.predictor is None
    trajectory, found = jax.jit(lambda: discovered(models, models.policy))()
    states = [random_latent(CONFIG)] + [jax.tree.map(lambda x, i=i: x[i], trajectory.latent) for i in range(7)]
    expected = []
    for number, key in enumerate(jax.random.split(the_key(), 2)):
        skills = [PLAN[number], *jax.random.normal(key, (3, 3))]
        log_density = np.zeros(4)
        for row, skill in enumerate(skills):
            for t in range(3 * number, 3 * number + 3):
                action = jnp.tanh(models.policy(feature(states[t]), skill).mean)
                prior = models.world_model.rssm.prior(models.world_model.rssm.remember(states[t], action))
                log_density[row] += stats.norm.logpdf(states[t + 1].stoch, prior.mean, prior.std).sum()
        expected.append(log_density[0] - np.log(np.mean(np.exp(log_density))))
    # Two whole skills of three steps in seven; each is paid at its last state.
    paid = np.zeros(7)
    paid[[2, 5]] = expected
    np.testing.assert_allclose(found.intrinsic_reward, paid, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(found.discernibility, np.mean(expected), rtol=1e-3, atol=1e-4)
    assert np.abs(expected).max() > 1e-3


def test_its_gradient_tells_skills_apart():
    models = fresh_models(CONFIG)
    gradient = jax.jit(jax.grad(lambda policy: discovered(models, policy)[1].discernibility))(models.policy)
    assert all(jnp.abs(leaf).max() > 0 for leaf in jax.tree.leaves(gradient))


@pytest.mark.parametrize("path", ["reward", "loss"])
def test_it_trains_the_policy_in_the_predictors_place(path):
    config = small("random-skills", discovery={"intrinsic": "forward", "intrinsic_path": path})
    models = fresh_models(config)
    start = Start(random_latent(config), jnp.float32(1.0), PLAN[:1])

    def policy_loss(policy, scale):
        changed = small(
            "random-skills", discovery={"intrinsic": "forward", "intrinsic_path": path, "intrinsic_scale": scale}
        )
        parts = models.__class__(models.world_model, policy, models.value, None, models.selection)
        return imagined_losses(parts, start, jnp.float32(1.0), the_key(), changed).policy_loss

    one, other = (jax.jit(jax.grad(lambda p, s=s: policy_loss(p, s)))(models.policy) for s in (0.0, 1.0))
    assert largest(jax.tree.map(jnp.subtract, one, other)) > 1e-5
