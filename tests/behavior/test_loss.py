"""The three losses: their values by hand, and that each reaches its own part only."""

from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from scipy import stats

from skillplan.behavior.imagination import draw_noise, imagine
from skillplan.behavior.loss import Imagined, Start, behavior_loss, imagined_losses
from skillplan.types import Latent
from skillplan.world_model.rssm import feature
from small import ACTION, fresh_models, largest, quick_compilation, random_latent, small  # noqa: F401

LOSSES = ("policy_loss", "value_loss", "predictor_loss")
PARTS = ("policy", "value", "predictor")


def the_key():
    return jax.random.key(5)


def start_of(config, goes_on=1.0):
    plan = jnp.asarray(np.random.default_rng(1).normal(size=(1, config.skill.size)), jnp.float32)
    return Start(random_latent(config), jnp.float32(goes_on), plan)


def lsp(scale, path="reward", **discovery):
    """H = K = N = 10, as in the paper."""
    return small(discovery={"intrinsic_scale": scale, "intrinsic_path": path, **discovery})


@cache
def compiled(config):
    """All three losses and the gradient of each with respect to everything that is learned."""

    def losses(models, start):
        imagined = imagined_losses(models, start, jnp.float32(1.0), the_key(), config)
        return jnp.stack([getattr(imagined, name) for name in LOSSES]), imagined

    return jax.jit(jax.jacrev(losses, has_aux=True))


def gradients(config, models=None):
    """`{loss: {part: gradient}}`, and the losses."""
    models = fresh_models(config) if models is None else models
    jacobian, imagined = compiled(config)(models, start_of(config))
    return {
        loss: {part: jax.tree.map(lambda x, i=i: x[i], getattr(jacobian, part)) for part in (*PARTS, "world_model")}
        for i, loss in enumerate(LOSSES)
    }, imagined


@pytest.mark.parametrize("config", [lsp(1.0), lsp(1.0, "loss", predictor_input="change")], ids=["reward", "loss"])
def test_each_loss_reaches_its_own_part_only(config):
    of, _ = gradients(config)
    for loss, own in zip(LOSSES, PARTS, strict=True):
        for part in (*PARTS, "world_model"):
            if part != own:
                assert largest(of[loss][part]) == 0, f"{loss} reaches {part}"
        assert all(jnp.abs(leaf).max() > 0 for leaf in jax.tree.leaves(of[loss][own])), f"{loss} misses some of {own}"


def policy_gradient(config, models=None):
    return ravel_pytree(gradients(config, models)[0]["policy_loss"]["policy"])[0]


@pytest.mark.parametrize("path", ["reward", "loss"])
def test_the_intrinsic_reward_trains_the_policy(path):
    without, scaled = policy_gradient(lsp(0.0)), policy_gradient(lsp(1.0, path))
    change = jnp.linalg.norm(scaled - without)
    assert change > 1e-4 * jnp.linalg.norm(without)
    # And it is log q's gradient: twice the scale, twice the change.
    twice = policy_gradient(lsp(2.0, path))
    np.testing.assert_allclose(twice - without, 2 * (scaled - without), atol=0.01 * float(change))


def test_without_intrinsic_reward_the_predictor_is_of_no_influence():
    config = small("no-mi")
    models = fresh_models(config)
    other = eqx.tree_at(lambda m: m.predictor, models, fresh_models(config, seed=1).predictor)
    assert largest(jax.tree.map(jnp.subtract, models.predictor, other.predictor)) > 0.1
    np.testing.assert_array_equal(policy_gradient(config, models), policy_gradient(config, other))
    with_reward = lsp(1.0)
    assert (policy_gradient(with_reward, models) != policy_gradient(with_reward, other)).any()


def by_hand(config, goes_on=1.0):
    """Rewards, values and log q of the imagined states, and the discounts, without the code that is tested."""
    models, start = fresh_models(config), start_of(config, goes_on)
    assert models.predictor is not None
    noise_key, predictor_key = jax.random.split(the_key())
    length = config.behavior.imagination_length
    noise = draw_noise(noise_key, length, ACTION, config.world_model.stoch)
    trajectory = jax.jit(lambda: imagine(models.world_model, models.policy, start.latent, start.plan, length, noise))()
    reward = np.array([models.world_model.reward(s) for s in trajectory.feature])
    value = np.array([models.value(s) for s in trajectory.feature])
    (key,) = jax.random.split(predictor_key, 1)
    inputs = models.predictor.inputs(models.world_model, feature(start.latent), trajectory.feature, key)
    mean, std = models.predictor(inputs)
    return reward, value, stats.norm.logpdf(start.plan[0], mean, std).sum(), np.asarray(trajectory.entropy)


def lambda_return(reward, value, gamma=0.99, lam=0.95):
    following, returns = value[-1], []
    for t in reversed(range(len(reward) - 1)):
        following = reward[t] + gamma * ((1 - lam) * value[t + 1] + lam * following)
        returns.insert(0, following)
    return np.array(returns)


@pytest.mark.parametrize("path", ["reward", "loss"])
def test_the_losses_by_hand(path):
    config = lsp(2.0, path)
    _, imagined = gradients(config)
    reward, value, log_q, _ = by_hand(config)
    total, bonus = reward.copy(), 0.0
    if path == "reward":
        total[8] += 2.0 * log_q  # the ninth of ten states: the tenth's reward enters no return
    else:
        bonus = 2.0 * log_q / 10
    target, weight = lambda_return(total, value), 0.99 ** np.arange(9)
    assert imagined.returns.shape == (9,)
    np.testing.assert_allclose(imagined.returns, target, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(imagined.policy_loss, -np.mean(weight * target) - bonus, rtol=1e-3)
    expected = -np.mean(weight * stats.norm.logpdf(target, value[:-1], 1))
    np.testing.assert_allclose(imagined.value_loss, expected, rtol=1e-3)
    np.testing.assert_allclose(imagined.predictor_loss, -log_q, rtol=1e-3)
    np.testing.assert_allclose(imagined.discernibility, log_q, rtol=1e-3)
    np.testing.assert_allclose(imagined.reward, reward.mean(), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("config", [lsp(1.0), lsp(1.0, "loss")], ids=["reward", "loss"])
def test_a_start_where_the_episode_ended_teaches_no_return_and_no_skill(config):
    jacobian, imagined = compiled(config)(fresh_models(config), start_of(config, 0.0))
    assert imagined.policy_loss == 0
    assert imagined.value_loss == 0
    assert largest(jax.tree.map(lambda x: x[:2], (jacobian.policy, jacobian.value))) == 0


def test_scale_and_entropy_act_on_the_policy_alone():
    plain, rewarded = lsp(0.0), small(policy={"entropy_scale": 0.1}, discovery={"intrinsic_scale": 0.0})
    models, start = fresh_models(plain), start_of(plain)
    run = lambda config: jax.jit(  # noqa: E731
        lambda scale: imagined_losses(models, start, scale, the_key(), config)
    )
    one, two = (run(plain)(jnp.float32(scale)) for scale in (1.0, 2.0))
    np.testing.assert_allclose(two.policy_loss, one.policy_loss / 2, rtol=1e-5)
    np.testing.assert_array_equal(two.value_loss, one.value_loss)
    bonus = run(rewarded)(jnp.float32(1.0))
    *_, entropy = by_hand(plain)
    np.testing.assert_allclose(bonus.policy_loss, one.policy_loss - 0.1 * entropy.mean(), rtol=1e-3)
    np.testing.assert_array_equal(bonus.value_loss, one.value_loss)


def fake_losses(count, length, policy=0.0):
    numbers = jnp.arange(count * length, dtype=jnp.float32).reshape(count, length)
    zeros = jnp.zeros(count)
    return Imagined(zeros + policy, zeros + 2, zeros + 3, numbers, zeros, zeros, zeros)


def test_a_batch_has_mean_losses_and_the_range_of_its_returns(monkeypatch):
    config, scales = small(behavior={"normalize_returns": True}), []

    def losses(models, start, scale, key, config):
        scales.append(scale)
        return jax.tree.map(lambda x: x[0], fake_losses(1, 1))._replace(
            returns=start.goes_on * jnp.arange(101.0), policy_loss=start.goes_on
        )

    monkeypatch.setattr("skillplan.behavior.loss.imagined_losses", losses)
    starts = Start(random_latent(config, 0, 2), jnp.array([1.0, 3.0]), jnp.zeros((2, 1, 3)))
    for running, scale in ((5.0, 5.0), (0.2, 1.0)):  # never below one: small returns are not blown up
        loss, (spread, metrics) = behavior_loss(fresh_models(config), starts, jnp.float32(running), the_key(), config)
        assert scales[-1] == scale
        np.testing.assert_allclose(metrics["policy/loss"], 2.0)
        np.testing.assert_allclose(loss, 2.0 + 2.0 + 3.0)
        both = np.concatenate([np.arange(101), 3 * np.arange(101)])
        np.testing.assert_allclose(spread, np.percentile(both, 95) - np.percentile(both, 5), rtol=1e-5)


def test_dreamers_losses_know_no_skill():
    config = small("dreamer")
    models = fresh_models(config)
    start = Start(Latent(*random_latent(config)), jnp.ones(()), jnp.zeros((1, 0)))
    imagined = jax.jit(lambda: imagined_losses(models, start, jnp.float32(1.0), the_key(), config))()
    assert imagined.returns.shape == (14,)  # fifteen imagined states
    assert imagined.predictor_loss == 0
    assert imagined.discernibility == 0
