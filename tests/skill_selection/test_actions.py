"""Planning actions: bounds, the score, that each step is planned for, and that a known best sequence is found."""

import jax
import jax.numpy as jnp
import numpy as np

from skillplan.agent import blank_memory, make_act
from skillplan.behavior.policy import SkillAsAction
from skillplan.presets import make_config
from skillplan.skill_selection import make_selection
from skillplan.types import SkillDistribution
from small import ACTION, OBSERVATION, fresh_models, quick_compilation, random_latent, small  # noqa: F401

CONFIG = small("online", planner={"horizon": 4, "population": 64, "elites": 8, "iterations": 10})
STILL = small("online")


def test_the_best_sequence_of_actions_is_found_within_bounds():
    targets = jnp.array([[0.5, -0.8], [3.0, 0.2], [-0.1, -2.0], [0.0, 0.9]])
    selection = make_selection(CONFIG, ACTION, jax.random.key(0))
    score = lambda plan, key: -1000 - jnp.sum(jnp.square(jnp.clip(plan, -1, 1) - targets))  # noqa: E731
    found = selection.select(score, jnp.zeros(12), jax.random.key(0))
    np.testing.assert_allclose(found.mean, jnp.clip(targets, -1, 1), atol=0.15)
    assert jnp.abs(found.mean).max() <= 1


def test_the_policy_does_what_is_planned():
    policy = SkillAsAction(ACTION)
    action, entropy = policy.act(jnp.zeros(12), jnp.array([0.3, -4.0]), jnp.ones(ACTION))
    np.testing.assert_array_equal(action, jnp.array([0.3, -1.0]))
    assert entropy == 0


def test_a_score_is_the_sum_of_the_predicted_rewards_of_all_steps():
    config = small("online", planner={"horizon": 4}, world_model={"continuation": True})
    models, start = fresh_models(config), random_latent(config)
    assert models.value is None
    plan = jnp.asarray(np.random.default_rng(0).uniform(-1.5, 1.5, (4, ACTION)), jnp.float32)
    key = jax.random.key(3)
    noise = jax.random.normal(jax.random.split(key)[0], (4, ACTION + config.world_model.stoch))[:, ACTION:]
    latent, expected, going_on = start, 0.0, 1.0
    for action, step_noise in zip(plan, noise, strict=True):
        latent = models.world_model.rssm.imagine_step(latent, jnp.clip(action, -1, 1), step_noise)
        feature = jnp.concatenate([latent.stoch, latent.deter])
        expected += going_on * float(models.world_model.reward(feature))
        going_on *= float(models.world_model.goes_on(feature))
    assert 0 < going_on < 0.9
    score = jax.jit(lambda: models.score(start, config)(plan, jax.random.clone(key)))()
    np.testing.assert_allclose(score, expected, rtol=1e-4)


def test_every_step_is_planned_for_and_nothing_but_noise_explores():
    act, models = make_act(STILL), fresh_models(STILL)
    memory, planned = blank_memory(models, 1), []
    for t in range(4):
        seen = jnp.asarray(np.random.default_rng(t).normal(size=(1, OBSERVATION)), jnp.float32)
        memory, action = act(models, memory, seen, jnp.array([t == 0]), jax.random.key(0)[None], jnp.float32(0))
        np.testing.assert_array_equal(action, jnp.clip(memory.skill, -1, 1))
        planned.append(np.asarray(action))
    assert len(np.unique(np.stack(planned)[:, 0, 0])) == 4
    selection = make_selection(STILL, ACTION, jax.random.key(0))
    distribution = SkillDistribution(jnp.full((3, ACTION), 0.2), jnp.ones((3, ACTION)))
    chosen = selection.decide(distribution, jax.random.key(0), jnp.float32(1))
    np.testing.assert_array_equal(chosen, distribution.mean[0])


def test_it_has_no_skill_to_hold():
    models = fresh_models(STILL)
    assert models.skill_size == 0
    assert models.selection.skill_size == ACTION
    assert models.predictor is None


def test_the_numbers_of_planet_at_the_papers_size_and_smaller_ones_elsewhere():
    numbers = lambda size: make_config("walker-walk", "online", size).planner  # noqa: E731
    paper = numbers("paper")
    assert (paper.population, paper.elites, paper.iterations, paper.horizon) == (1000, 100, 10, 12)
    assert paper.population > numbers("compact").population > numbers("tiny").population
    assert make_config("walker-walk", "online", "paper").policy.exploration_noise == 0.3
