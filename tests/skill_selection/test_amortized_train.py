"""Amortised in training, planned in acting: which of the two is asked when, and where the search starts."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from skillplan.agent import make_act
from skillplan.algorithm import replace_parts, select_skills
from skillplan.models import Models
from skillplan.skill_selection import make_selection
from skillplan.skill_selection.base import SkillSelection
from skillplan.types import SkillDistribution
from small import ACTION, OBSERVATION, fresh_models, largest, quick_compilation, random_latent, small  # noqa: F401

CONFIG = small("amortized-train", planner={"skill_noise": 0.0, "iterations": 3, "population": 32, "elites": 4})
TARGET = jnp.array([[2.0, -2.5, 1.5]])


def quadratic(plan, key):
    return -jnp.sum(jnp.square(plan - TARGET))


@pytest.fixture(scope="module")
def selection():
    return proposing(CONFIG)


def proposing(config):
    """A selection whose high-level policy proposes about (1.5, −1.5, 1), and is rather sure."""
    made = make_selection(config, ACTION, jax.random.key(0))
    raw = jnp.array([1.6, -1.6, 1.04, -0.7, -0.7, -0.7])
    return eqx.tree_at(lambda s: s.policy.mlp.output.bias, jax.tree.map(jnp.zeros_like, made), raw)


def test_training_asks_the_policy_and_acting_the_planner(selection):
    arguments = quadratic, jnp.zeros(12), jax.random.key(1)
    proposed, acted = selection.select(*arguments), selection.select_to_act(*arguments)
    np.testing.assert_array_equal(proposed.mean, selection.policy.select(*arguments).mean)
    start = np.linalg.norm(proposed.mean - TARGET)
    assert np.linalg.norm(acted.mean - TARGET) < 0.5 * start
    assert (acted.std < proposed.std).all()


def test_the_search_starts_at_the_policys_distribution():
    # Where every score is the same, the first four plans of the policy's distribution are the elites.
    flat = lambda plan, key: jnp.zeros(())  # noqa: E731
    config = small("amortized-train", planner={"iterations": 1, "population": 32, "elites": 4})
    one = proposing(config)
    acted = one.select_to_act(flat, jnp.zeros(12), jax.random.key(1))
    proposed = one.select(flat, jnp.zeros(12), jax.random.key(1))
    plan_key, _ = jax.random.split(jax.random.fold_in(jax.random.key(1), 0))
    drawn = proposed.mean[None] + proposed.std[None] * jax.random.normal(plan_key, (32, 1, 3))
    np.testing.assert_allclose(acted.mean, drawn[:4].mean(0), atol=1e-5)


class Telling(SkillSelection):
    """Selects zeros while training and ones while acting."""

    plan_length: int = eqx.field(static=True, default=1)
    skill_size: int = eqx.field(static=True, default=3)
    skill_noise: float = eqx.field(static=True, default=0.0)

    def select(self, imagine_and_score, feature, key):
        return SkillDistribution(jnp.zeros((1, 3)), jnp.zeros((1, 3)))

    def select_to_act(self, imagine_and_score, feature, key):
        return SkillDistribution(jnp.ones((1, 3)), jnp.zeros((1, 3)))


def test_the_agent_and_the_update_ask_for_the_right_one():
    config = small()
    models = replace_parts(fresh_models(config), {"selection": Telling()})
    assert isinstance(models, Models)
    posterior = random_latent(config, 0, 1, 4)
    plans = select_skills(models, posterior, jnp.zeros((1, 4), bool), jax.random.key(0), config).plan
    np.testing.assert_array_equal(plans, np.zeros((4, 1, 3)))
    act = make_act(config)
    memory = jax.tree.map(lambda x: x[None], models.blank_memory())
    keys = jax.random.key(0)[None]
    memory, _ = act(models, memory, jnp.zeros((1, OBSERVATION)), jnp.array([True]), keys, jnp.float32(0))
    np.testing.assert_array_equal(memory.skill, np.ones((1, 3)))


def test_only_the_policy_learns_from_the_loss(selection):
    gradient = jax.grad(lambda s: s.loss(quadratic, jnp.zeros(12), jax.random.key(0)))(selection)
    assert largest(gradient.policy.mlp.output.bias) > 0
    assert jax.tree.leaves(gradient.planner) == []
