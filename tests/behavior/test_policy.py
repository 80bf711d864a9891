"""The tanh-Gaussian policy against its formula and a numerical integral."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from skillplan.behavior.policy import Policy
from skillplan.world_model.rssm import feature
from small import fresh_models, quick_compilation, random_latent, small  # noqa: F401

CONFIG = small()
SKILL = jnp.array([0.5, -1.0, 2.0])


@pytest.fixture(scope="module")
def policy():
    return fresh_models(CONFIG).policy


@pytest.fixture(scope="module")
def state():
    return feature(random_latent(CONFIG))


def test_the_gaussian_before_the_tanh(policy, state):
    mean, std = np.split(np.asarray(policy.mlp(jnp.concatenate([state, SKILL]))), 2)
    gaussian = policy(state, SKILL)
    np.testing.assert_allclose(gaussian.mean, 5 * np.tanh(mean / 5), rtol=1e-5)
    shift = np.log(np.exp(5.0) - 1)  # softplus⁻¹ of the initial deviation
    np.testing.assert_allclose(gaussian.std, np.log1p(np.exp(std + shift)) + 1e-4, rtol=1e-5)


@pytest.mark.parametrize("initial_std", [0.3, 5.0])
def test_the_deviation_starts_where_it_is_told_to(initial_std):
    config = small(policy={"initial_std": initial_std})
    zero = jax.tree.map(jnp.zeros_like, Policy(config, 2, jax.random.key(0)))
    gaussian = zero(jnp.zeros(12), SKILL)
    np.testing.assert_allclose(gaussian.std, initial_std + 1e-4, rtol=1e-4)
    np.testing.assert_array_equal(gaussian.mean, 0)


def test_actions_are_the_tanh_of_a_draw(policy, state):
    mean, std = policy(state, SKILL)
    noise = jnp.array([-1.0, 0.5])
    np.testing.assert_allclose(policy.act(state, SKILL, noise)[0], np.tanh(mean + std * noise), atol=1e-6)
    np.testing.assert_allclose(policy.act(state, SKILL, jnp.zeros(2))[0], np.tanh(mean), atol=1e-6)


def test_no_gradient_reaches_the_feature_through_the_policy(policy, state):
    noise = jnp.array([-0.1, 0.05])
    to_feature, to_skill = jax.jacobian(lambda s, z: policy.act(s, z, noise)[0], argnums=(0, 1))(state, SKILL)
    assert not to_feature.any()
    assert jnp.abs(to_skill).min() > 0
    # The feature itself does count.
    assert (policy.act(state, SKILL, noise)[0] != policy.act(state + 1, SKILL, noise)[0]).all()


def test_the_entropy_estimate_is_right_on_average():
    config = small(policy={"initial_std": 0.8})
    policy = Policy(config, 1, jax.random.key(0))
    state = feature(random_latent(config))
    mean, std = (float(x[0]) for x in policy(state, SKILL))
    # −∫ p(a) ln p(a) da over the action a = tanh(u), by its density p(a) = N(u) / (1 − a²).
    u, du = np.linspace(mean - 9 * std, mean + 9 * std, 20_001, retstep=True)
    log_p = stats.norm.logpdf(u, mean, std) - np.log(1 / np.cosh(u) ** 2)
    integral = -np.sum(stats.norm.pdf(u, mean, std) * log_p) * du
    # Equally likely draws of the noise.
    noise = jnp.asarray(stats.norm.ppf((np.arange(4000) + 0.5) / 4000), jnp.float32)[:, None]
    estimates = jax.jit(jax.vmap(lambda n: policy.act(state, SKILL, n)[1]))(noise)
    np.testing.assert_allclose(np.mean(estimates), integral, atol=5e-3)


def test_the_entropy_of_several_actions_is_their_sum(policy, state):
    mean, std = policy(state, SKILL)
    noise = np.array([-0.3, 0.2])
    u = np.asarray(mean) + np.asarray(std) * noise
    gaussian = stats.norm.entropy(mean, std)
    jacobian = np.log(4) - 2 * np.abs(u) - 2 * np.log1p(np.exp(-2 * np.abs(u)))
    entropy = policy.act(state, SKILL, jnp.asarray(noise, jnp.float32))[1]
    np.testing.assert_allclose(entropy, np.sum(gaussian + jacobian), rtol=1e-4)
