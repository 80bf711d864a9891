"""The recurrent state-space model against a loop, numpy, and itself started anew."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from skillplan.types import Latent
from skillplan.world_model.rssm import MIN_STD, RSSM, feature
from small import ACTION, quick_compilation, random_latent, small  # noqa: F401

CONFIG = small()
MODEL = CONFIG.world_model
EMBED, LENGTH, BREAK = 6, 7, 4


@pytest.fixture(scope="module")
def rssm():
    return RSSM(MODEL, CONFIG.network, EMBED, ACTION, jax.random.key(0))


@pytest.fixture(scope="module")
def sequence():
    draws = np.random.default_rng(0)
    embeds = jnp.asarray(draws.normal(size=(LENGTH, EMBED)), jnp.float32)
    actions = jnp.asarray(draws.uniform(-1, 1, (LENGTH, ACTION)), jnp.float32)
    is_first = jnp.arange(LENGTH) == BREAK  # an episode that is under way, then a new one
    return embeds, actions, is_first


@pytest.fixture(scope="module")
def observed(rssm, sequence):
    return rssm.observe(*sequence, jax.random.key(1))


def elu(x):
    return np.where(x > 0, x, np.expm1(x))


def softplus(x):
    return np.log1p(np.exp(x))


def affine(dense, x):
    return x @ np.asarray(dense.weight) + np.asarray(dense.bias)


def test_the_feature_is_stoch_then_deter():
    latent = random_latent(CONFIG, 0)
    np.testing.assert_array_equal(feature(latent), np.concatenate([latent.stoch, latent.deter]))


def test_one_step_by_numpy(rssm):
    latent = random_latent(CONFIG, 0)
    action, embed = np.array([0.5, -1.0], np.float32), np.linspace(-1, 1, EMBED, dtype=np.float32)
    noise = np.linspace(-2, 2, MODEL.stoch, dtype=np.float32)
    x = elu(affine(rssm.before_memory.dense, np.concatenate([latent.stoch, action])))
    deter = np.asarray(rssm.memory(jnp.asarray(x), latent.deter))

    def gaussian(hidden, output, inputs):
        mean, std = np.split(affine(output, elu(affine(hidden.dense, inputs))), 2)
        return mean, softplus(std) + 0.1

    mean, std = gaussian(rssm.prior_hidden, rssm.prior_output, deter)
    imagined = rssm.imagine_step(latent, jnp.asarray(action), jnp.asarray(noise))
    for actual, expected in zip(imagined, (deter, mean + std * noise, mean, std), strict=True):
        np.testing.assert_allclose(actual, expected, atol=1e-5)

    mean, std = gaussian(rssm.posterior_hidden, rssm.posterior_output, np.concatenate([deter, embed]))
    seen = rssm.observe_step(latent, jnp.asarray(action), jnp.asarray(embed), jnp.zeros((), bool), jnp.asarray(noise))
    for actual, expected in zip(seen, (deter, mean + std * noise, mean, std), strict=True):
        np.testing.assert_allclose(actual, expected, atol=1e-5)


def test_observing_a_sequence_is_a_loop_over_steps(rssm, sequence, observed):
    embeds, actions, is_first = sequence
    posterior, prior = observed
    noise = jax.random.normal(jax.random.key(1), (LENGTH, MODEL.stoch))
    latent = rssm.initial()
    for t in range(LENGTH):
        latent = rssm.observe_step(latent, actions[t], embeds[t], is_first[t], noise[t])
        for actual, expected in zip(posterior, latent, strict=True):
            np.testing.assert_allclose(actual[t], expected, atol=1e-5)
        foreseen = rssm.prior(latent.deter)
        np.testing.assert_allclose(prior.mean[t], foreseen.mean, atol=1e-5)
        np.testing.assert_allclose(prior.std[t], foreseen.std, atol=1e-5)


def test_a_new_episode_forgets_everything_before_it(rssm, sequence, observed):
    embeds, actions, _ = sequence
    noise = jax.random.normal(jax.random.key(1), (LENGTH, MODEL.stoch))
    latent = rssm.initial()
    for t in range(BREAK, LENGTH):
        # A fresh sequence, whose first action is zero.
        action = jnp.zeros(ACTION) if t == BREAK else actions[t]
        latent = rssm.observe_step(latent, action, embeds[t], jnp.zeros((), bool), noise[t])
        np.testing.assert_allclose(observed[0].stoch[t], latent.stoch, atol=1e-5)
        np.testing.assert_allclose(observed[0].deter[t], latent.deter, atol=1e-5)


def test_without_a_new_episode_the_past_counts(rssm, sequence, observed):
    embeds, actions, _ = sequence
    posterior, _ = rssm.observe(embeds, actions, jnp.zeros(LENGTH, bool), jax.random.key(1))
    np.testing.assert_allclose(posterior.stoch[:BREAK], observed[0].stoch[:BREAK], atol=1e-6)
    assert np.abs(posterior.deter[BREAK] - observed[0].deter[BREAK]).max() > 1e-3


def test_the_first_latent_is_zero(rssm):
    assert not any(np.any(part) for part in rssm.initial())
    assert rssm.initial().deter.shape == (MODEL.deter,)
    assert rssm.initial().stoch.shape == (MODEL.stoch,)


def test_no_standard_deviation_is_below_a_tenth(rssm):
    hidden = jnp.full(MODEL.deter, 1e3)  # drives some outputs far below zero
    std = jnp.concatenate([rssm.prior(sign * hidden).std for sign in (1, -1)])
    assert MIN_STD == 0.1
    assert std.min() >= 0.1
    assert std.min() < 0.1001


def test_zero_noise_gives_the_mean(rssm):
    latent = Latent(*random_latent(CONFIG, 3))
    imagined = rssm.imagine_step(latent, jnp.zeros(ACTION), jnp.zeros(MODEL.stoch))
    np.testing.assert_array_equal(imagined.stoch, imagined.mean)
