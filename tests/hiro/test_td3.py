"""TD3: its targets by hand, its schedules, and that it finds the best of known actions."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hiro.probes import HIRO, known
from skillplan.hiro.td3 import Transition, actor_loss, critic_loss, critic_target, follow, improve, make_level
from skillplan.hiro.td3 import make_optimizers as optimizers_of
from small import assert_trees_equal, differ, quick_compilation  # noqa: F401

OPTIMIZERS = optimizers_of(HIRO, 100.0)
# Acts on the first number it reads; the critics disagree: Q1 grows with the action, Q2 falls.
KNOWN = known(lambda x: x[:1], lambda x, a: jnp.stack([10 + a[0], 12 - 5 * a[0]]))


def step(reward=2.0, following=0.8, goes_on=1.0):
    return Transition(jnp.zeros(2), jnp.zeros(1), jnp.float32(reward), jnp.array([following, 7.0]), jnp.float32(goes_on))


@pytest.mark.parametrize(
    ("following", "noise", "lower"),
    [
        # 0.2 · 0.5 = 0.1: a' = 0.1 and 0.3, Q1 is the lower one at first, Q2 beyond a' = 1/3.
        (0.0, 0.5, 10.1),
        (0.4, 0.5, 12 - 5 * 0.5),
        # The noise is clipped to ±0.5 …
        (0.0, 100.0, 12 - 5 * 0.5),
        (0.0, -100.0, 9.5),
        # … and the action with it to ±1.
        (0.8, 100.0, 12 - 5 * 1.0),
        (-0.8, -100.0, 9.0),
    ],
)
def test_a_target_is_the_reward_and_the_lower_estimate_of_a_noisy_action(following, noise, lower):
    target = critic_target(KNOWN, step(following=following), jnp.array([noise]), HIRO)
    np.testing.assert_allclose(target, 2.0 + 0.99 * lower, rtol=1e-6)


def test_nothing_follows_where_the_world_ended_the_episode():
    assert critic_target(KNOWN, step(goes_on=0.0), jnp.zeros(1), HIRO) == 2.0


def test_the_critics_loss_is_hubers_of_both():
    transitions = jax.tree.map(lambda x: jnp.stack([x, x]), step())
    # Both actions are 0: the estimates are 10 and 12, the targets 10.5 and 14.
    loss = critic_loss(KNOWN.critic, transitions, jnp.array([10.5, 14.0]))
    first = 0.5 * 0.5**2 + (1.5 - 0.5)  # errors 0.5 and −1.5
    second = (4.0 - 0.5) + (2.0 - 0.5)  # errors 4 and 2
    np.testing.assert_allclose(loss, (first + second) / 2, rtol=1e-6)


def test_the_policy_climbs_the_first_critic_alone():
    inputs = jnp.array([[0.25, 0.0], [0.75, 0.0]])
    np.testing.assert_allclose(actor_loss(KNOWN.actor, KNOWN.critic, inputs), -10.5, rtol=1e-6)


def random_transitions(seed=0, count=16):
    draws = np.random.default_rng(seed)
    normal = lambda *shape: jnp.asarray(draws.normal(size=shape), jnp.float32)  # noqa: E731
    action = jnp.asarray(draws.uniform(-1, 1, (count, 1)), jnp.float32)
    return Transition(normal(count, 2), action, normal(count), normal(count, 2), jnp.ones(count))


def test_policy_and_targets_wait_for_the_delay_and_critics_do_not():
    level = make_level(2, 1, HIRO, OPTIMIZERS, jax.random.key(1))
    assert_trees_equal(level.learned, level.target)
    update = jax.jit(lambda level, key: improve(level, random_transitions(), OPTIMIZERS, HIRO, key))
    for number in range(1, 7):
        after, metrics = update(level, jax.random.key(number))
        due = number % HIRO.policy_delay == 0
        assert differ(level.learned.critic, after.learned.critic)
        assert differ(level.learned.actor, after.learned.actor) == due
        assert differ(level.actor_optimizer, after.actor_optimizer) == due
        assert differ(level.target, after.target) == due
        assert after.updates == number
        if due:
            for old, new, target in zip(
                *(jax.tree.leaves(tree) for tree in (level.target, after.learned, after.target)), strict=True
            ):
                np.testing.assert_allclose(target, 0.995 * old + 0.005 * new, atol=1e-6)
        else:
            assert metrics["policy_loss"] == level.policy_loss
        level = after


def test_targets_follow_by_tau():
    one, other = (make_level(2, 1, HIRO, OPTIMIZERS, jax.random.key(seed)).learned for seed in (0, 1))
    assert_trees_equal(follow(one, other, 0.0), one)
    for got, expected in zip(jax.tree.leaves(follow(one, other, 1.0)), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-6)


def test_a_known_best_action_is_found():
    # One step, paid −(a − 0.4 s)²: the best action depends on what is read.
    hiro = HIRO.__class__(units=64, layers=1, actor_learning_rate=3e-3, critic_learning_rate=1e-2)
    optimizers = optimizers_of(hiro, 100.0)
    level = make_level(1, 1, hiro, optimizers, jax.random.key(0))

    def one(i, level):
        draw, learn = jax.random.split(jax.random.fold_in(jax.random.key(0), i))
        numbers = jax.random.uniform(draw, (2, 64, 1), minval=-1.0)
        reward = -jnp.square(numbers[1] - 0.4 * numbers[0])[:, 0]
        transitions = Transition(numbers[0], numbers[1], reward, numbers[0], jnp.zeros(64))
        return improve(level, transitions, optimizers, hiro, learn)[0]

    learned = jax.jit(lambda level: jax.lax.fori_loop(0, 1500, one, level))(level).learned
    seen = jnp.linspace(-1, 1, 9)[:, None]
    np.testing.assert_allclose(jax.vmap(learned.actor)(seen), 0.4 * seen, atol=0.1)


def test_the_two_critics_begin_apart():
    critic = make_level(2, 1, HIRO, OPTIMIZERS, jax.random.key(1)).learned.critic
    assert differ(critic.first, critic.second)
    assert eqx.tree_equal(jax.tree.map(jnp.shape, critic.first), jax.tree.map(jnp.shape, critic.second))
