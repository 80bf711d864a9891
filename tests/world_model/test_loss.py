"""The world model's loss against numpy, and the order of mean and max in its KL term."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from skillplan.config import WorldModelConfig
from skillplan.types import Gaussian
from skillplan.world_model.loss import kl_loss, world_model_loss
from skillplan.world_model.rssm import feature
from small import fresh_models, quick_compilation, random_batch, small  # noqa: F401

BATCH, LENGTH = 2, 3


def with_kl(*values):
    """Posteriors and priors of unit variance, `[1, time, 1]`, with these divergences: half the squared distance."""
    mean = jnp.sqrt(2 * jnp.array(values))[None, :, None]
    return Gaussian(mean, jnp.ones_like(mean)), Gaussian(jnp.zeros_like(mean), jnp.ones_like(mean))


@pytest.mark.parametrize(
    ("divergences", "expected"),
    [
        ((0.0, 10.0), 5.0),  # the mean comes first: the other order would give (3 + 10) / 2
        ((0.0, 4.0), 3.0),  # below the free nats on average; the other order would give 3.5
        ((4.0, 8.0), 6.0),
    ],
)
def test_the_mean_comes_before_the_max(divergences, expected):
    loss, mean = kl_loss(*with_kl(*divergences), WorldModelConfig(free_nats=3.0))
    np.testing.assert_allclose(loss, expected, rtol=1e-5)
    np.testing.assert_allclose(mean, np.mean(divergences), rtol=1e-5)
    balanced, _ = kl_loss(*with_kl(*divergences), WorldModelConfig(free_nats=3.0, kl_balance=0.8))
    np.testing.assert_allclose(balanced, expected, rtol=1e-5)


def test_beta_multiplies_the_free_nats_too():
    np.testing.assert_allclose(kl_loss(*with_kl(0.0, 4.0), WorldModelConfig(kl_scale=0.5))[0], 1.5, rtol=1e-5)


def test_balance_shares_the_gradient_between_prior_and_posterior():
    posterior, prior = with_kl(4.0, 8.0)

    def gradients(balance):
        config = WorldModelConfig(kl_balance=balance)
        return jax.grad(lambda p, q: kl_loss(p, q, config)[0], argnums=(0, 1))(posterior, prior)

    of_posterior, of_prior = gradients(None)
    assert np.abs(of_posterior.mean).min() > 0.1
    for balance in (0.0, 0.8, 1.0):
        balanced_posterior, balanced_prior = gradients(balance)
        np.testing.assert_allclose(balanced_posterior.mean, (1 - balance) * of_posterior.mean, rtol=1e-5)
        np.testing.assert_allclose(balanced_prior.mean, balance * of_prior.mean, rtol=1e-5)


def test_below_the_free_nats_the_divergence_has_no_gradient():
    posterior, prior = with_kl(1.0, 2.0)
    gradient = jax.grad(lambda p: kl_loss(p, prior, WorldModelConfig())[0])(posterior)
    assert not gradient.mean.any()


@pytest.fixture(scope="module")
def case():
    """A loss whose every term is at work, terminations included."""
    config = small(world_model={"continuation": True, "free_nats": 0.01, "kl_scale": 0.7})
    batch = random_batch(0, BATCH, LENGTH)
    batch = batch._replace(is_terminal=batch.is_terminal.at[1, -1].set(True))
    model = fresh_models(config).world_model
    loss = jax.jit(lambda model, batch: world_model_loss(model, batch, jax.random.key(0), config.world_model))
    return config, batch, model, loss(model, batch)


def test_the_loss_by_numpy(case):
    config, batch, model, (loss, (posterior, metrics)) = case
    keys = jax.random.split(jax.random.key(0), BATCH)
    observation, reward, kl, continuation = [], [], [], []
    for b in range(BATCH):
        latents, priors = model.observe(batch.observation[b], batch.action[b], batch.is_first[b], keys[b])
        np.testing.assert_allclose(posterior.stoch[b], latents.stoch, atol=1e-5)
        for t in range(LENGTH):
            s = feature(jax.tree.map(lambda x, t=t: x[t], latents))
            observation.append(stats.norm.logpdf(batch.observation[b, t], *model.decoder(s)).sum())
            reward.append(stats.norm.logpdf(batch.reward[b, t], model.reward(s), 1))
            p = model.continuation(s)
            continuation.append(np.log(1 - p) if batch.is_terminal[b, t] else np.log(p))
            ratio = (latents.std[t] / priors.std[t]) ** 2
            shift = ((latents.mean[t] - priors.mean[t]) / priors.std[t]) ** 2
            kl.append(0.5 * np.sum(ratio + shift - 1 - np.log(ratio)))
    assert np.mean(kl) > 0.01
    expected = -np.mean(observation) - np.mean(reward) - np.mean(continuation) + 0.7 * np.mean(kl)
    np.testing.assert_allclose(loss, expected, rtol=1e-5)
    np.testing.assert_allclose(metrics["world_model/kl"], np.mean(kl), rtol=1e-4)
    np.testing.assert_allclose(metrics["world_model/observation_loss"], -np.mean(observation), rtol=1e-5)
    np.testing.assert_allclose(metrics["world_model/loss"], loss)


def test_every_parameter_of_the_world_model_learns(case):
    config, batch, model, _ = case
    loss = lambda model: world_model_loss(model, batch, jax.random.key(0), config.world_model)[0]  # noqa: E731
    for path, leaf in jax.tree_util.tree_leaves_with_path(jax.jit(jax.grad(loss))(model)):
        assert jnp.abs(leaf).max() > 0, jax.tree_util.keystr(path)


def test_without_a_continuation_head_terminations_do_not_count(case):
    config, batch, _, _ = case
    config = dataclasses.replace(config, world_model=dataclasses.replace(config.world_model, continuation=False))
    model = fresh_models(config).world_model
    loss = lambda batch: world_model_loss(model, batch, jax.random.key(0), config.world_model)[0]  # noqa: E731
    assert loss(batch) == loss(batch._replace(is_terminal=~batch.is_terminal))
