"""Acting in two levels: when goals change, how they move on, what exploring adds."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hiro.probes import K, hiro_config
from skillplan.agent import blank_memory
from skillplan.distributions import symlog
from skillplan.hiro.acting import make_hiro_act
from skillplan.hiro.models import make_state
from small import OBSERVATION, SPEC, quick_compilation  # noqa: F401

STEPS = 2 * K + 1


def observations(seed=0, rows=2, steps=STEPS):
    return np.random.default_rng(seed).normal(size=(steps, rows, OBSERVATION)).astype(np.float32)


def models_of(config):
    return make_state(config, SPEC, jax.random.key(0)).models


def play(config, explore, seen=None, keys=(0, 1), restart=(), choose=True, skill=None):
    """The goals and actions of some steps, `[steps, rows, …]`; `restart` lists (step, row) where episodes begin."""
    seen = observations() if seen is None else seen
    act, models = make_hiro_act(config, choose_skills=choose), models_of(config)
    rows = seen.shape[1]
    memory = blank_memory(models, rows)
    if skill is not None:
        memory = memory._replace(skill=skill)
    goals, actions = [], []
    for t, observation in enumerate(seen):
        is_first = jnp.array([t == 0 or (t, row) in restart for row in range(rows)])
        key = jnp.stack([jax.random.key(k) for k in keys[:rows]])
        memory, action = act(models, memory, jnp.asarray(observation), is_first, key, jnp.float32(explore))
        goals.append(memory.skill)
        actions.append(action)
    assert act._cache_size() == 1
    return np.stack(goals), np.stack(actions)


SKILL, STATE = hiro_config(), hiro_config(hiro={"goal": "state"})


@pytest.mark.parametrize("explore", [0.0, 1.0])
def test_a_skill_is_chosen_every_k_steps_and_held(explore):
    goals, _ = play(SKILL, explore)
    for t in range(1, STEPS):
        assert (goals[t] == goals[t - 1]).all(-1).tolist() == [t % K != 0] * 2, t


def test_a_state_goal_moves_on_with_what_is_seen():
    seen = observations()
    goals, _ = play(STATE, 1.0, seen)
    squashed = np.asarray(symlog(jnp.asarray(seen)))
    for t in range(1, STEPS):
        left = squashed[t - 1] + goals[t - 1] - squashed[t]
        assert np.allclose(goals[t], left, atol=1e-5) == (t % K != 0), t


def test_without_noise_both_policies_speak_for_themselves():
    seen = observations()
    goals, actions = play(SKILL, 0.0, seen)
    models, squashed = models_of(SKILL), symlog(jnp.asarray(seen))
    np.testing.assert_allclose(goals[0], 3 * jax.vmap(models.high.actor)(squashed[0]), rtol=1e-5)
    np.testing.assert_allclose(goals[K], 3 * jax.vmap(models.high.actor)(squashed[K]), rtol=1e-5)
    for t in range(STEPS):
        inputs = jnp.concatenate([squashed[t], goals[t]], axis=1)
        np.testing.assert_allclose(actions[t], jax.vmap(models.low.actor)(inputs), atol=1e-5)


def test_noise_has_the_deviations_that_are_set():
    # Far from their bounds: networks that say zero.
    config = hiro_config(skill={"duration": 1}, hiro={"action_noise": 0.1, "goal_noise": 0.2})
    act = make_hiro_act(config)
    models = jax.tree.map(jnp.zeros_like, models_of(config))
    keys = jax.random.split(jax.random.key(0), 4000)
    seen = jnp.zeros((4000, OBSERVATION))
    memory, action = act(models, blank_memory(models, 4000), seen, jnp.ones(4000, bool), keys, jnp.float32(1))
    np.testing.assert_allclose(memory.skill.std(0), np.full(3, 3 * 0.2), rtol=0.05)
    np.testing.assert_allclose(action.std(0), np.full(2, 0.1), rtol=0.05)
    memory, action = act(models, blank_memory(models, 4000), seen, jnp.ones(4000, bool), keys, jnp.float32(0))
    assert not memory.skill.any()
    assert not action.any()


@pytest.mark.parametrize(("goal", "deviation"), [("skill", 1.0), ("state", 1 / np.sqrt(3))])
def test_a_share_of_the_goals_comes_from_the_prior(goal, deviation):
    config = hiro_config(skill={"duration": 1, "explore_fraction": 0.25}, hiro={"goal": goal, "goal_noise": 0.0})
    act = make_hiro_act(config)
    models = jax.tree.map(jnp.zeros_like, models_of(config))
    keys, blank = jax.random.split(jax.random.key(0), 4000), blank_memory(models, 4000)
    seen = jnp.zeros((4000, OBSERVATION))
    drawn = np.asarray(act(models, blank, seen, jnp.ones(4000, bool), keys, jnp.float32(1))[0].skill)
    from_prior = drawn.any(axis=1)
    np.testing.assert_allclose(from_prior.mean(), 0.25, atol=0.03)
    np.testing.assert_allclose(drawn[from_prior].std(0), np.full(drawn.shape[1], deviation), rtol=0.1)
    assert not act(models, blank, seen, jnp.ones(4000, bool), keys, jnp.float32(0))[0].skill.any()


@pytest.mark.parametrize("config", [SKILL, STATE])
def test_an_episode_begins_without_a_past(config):
    seen = observations()
    goals, actions = play(config, 1.0, seen, restart=[(2, 1)])
    fresh_goals, fresh_actions = play(config, 1.0, seen[2:])
    np.testing.assert_allclose(goals[2:, 1], fresh_goals[:, 1], atol=1e-5)
    np.testing.assert_allclose(actions[2:, 1], fresh_actions[:, 1], atol=1e-5)
    np.testing.assert_array_equal(goals[:, 0], play(config, 1.0, seen)[0][:, 0])


def test_actions_and_goals_stay_within_bounds():
    config = hiro_config(hiro={"action_noise": 5.0, "goal_noise": 5.0})
    goals, actions = play(config, 1.0)
    assert np.abs(actions).max() == 1.0
    assert np.abs(goals).max() == 3.0


def test_a_given_skill_is_kept_without_noise():
    given = jnp.array([[1.0, 2.0, 3.0], [-1.0, 0.0, 0.5]])
    noisy = play(SKILL, 1.0, choose=False, skill=given)
    still = play(SKILL, 0.0, choose=False, skill=given)
    for goals, _ in (noisy, still):
        np.testing.assert_array_equal(goals, np.broadcast_to(given, goals.shape))
    np.testing.assert_array_equal(noisy[1], still[1])
    assert (still[1][:, 0] != still[1][:, 1]).any()
