"""The amortised selection: its bounds, and that it learns from the score."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from skillplan.algorithm import selection_loss
from skillplan.skill_selection import make_selection
from skillplan.skill_selection.high_level_policy import HighLevelPolicy
from skillplan.types import Latent
from small import ACTION, fresh_models, largest, quick_compilation, random_latent, small  # noqa: F401

CONFIG = small("amortized-skills", planner={"skill_noise": 0.0})


def quadratic(plan, key):
    return -jnp.sum(jnp.square(plan - jnp.array([[0.5, -1.0, 1.5]])))


@pytest.fixture
def selection():
    made = make_selection(CONFIG, ACTION, jax.random.key(0))
    assert isinstance(made, HighLevelPolicy)
    return made


def test_means_are_bounded_by_three_and_deviations_by_the_soft_clamp(selection):
    raw = jnp.array([-1e3, 0.5, 1e3, -1e3, 0.0, 1e3])
    fixed = eqx.tree_at(lambda s: s.mlp.output.bias, jax.tree.map(jnp.zeros_like, selection), raw)
    distribution = fixed.select(quadratic, jnp.zeros(12), jax.random.key(0))
    np.testing.assert_allclose(distribution.mean, [[-3, 3 * np.tanh(0.5 / 3), 3]], rtol=1e-5)
    np.testing.assert_allclose(distribution.std[0, ::2], [0.1, 1.6], rtol=1e-4)


def test_the_choice_depends_on_the_state_and_not_on_the_key(selection):
    one, same, other = (
        selection.select(quadratic, jnp.full(12, s), jax.random.key(k)).mean for s, k in ((0.0, 0), (0.0, 1), (1.0, 0))
    )
    np.testing.assert_array_equal(one, same)
    assert (one != other).all()


def test_a_plan_of_several_skills_is_chosen_at_once():
    config = small("amortized-skills", skill={"duration": 4}, planner={"horizon": 10})
    selection = make_selection(config, ACTION, jax.random.key(0))
    assert selection.select(quadratic, jnp.zeros(12), jax.random.key(0)).mean.shape == (3, 3)


def test_its_loss_is_minus_the_score_of_a_sample(selection):
    key = jax.random.key(3)
    _, sample_key, _ = jax.random.split(jax.random.clone(key), 3)
    distribution = selection.select(quadratic, jnp.zeros(12), jax.random.key(0))
    expected = -quadratic(selection.sample(distribution, sample_key), None)
    np.testing.assert_allclose(selection.loss(quadratic, jnp.zeros(12), key), expected, rtol=1e-6)


def test_it_learns_the_best_plan(selection):
    state = jnp.ones(12)

    def average_loss(selection, key):
        return jnp.mean(jax.vmap(lambda k: selection.loss(quadratic, state, k))(jax.random.split(key, 64)))

    def step(i, selection):
        gradient = jax.grad(average_loss)(selection, jax.random.fold_in(jax.random.key(0), i))
        return jax.tree.map(lambda p, g: p - 0.02 * g, selection, gradient)

    learned = jax.jit(lambda s: jax.lax.fori_loop(0, 300, step, s))(selection)
    mean = learned.select(quadratic, state, jax.random.key(0)).mean
    np.testing.assert_allclose(mean, [[0.5, -1.0, 1.5]], atol=0.15)


def test_task_return_gives_it_a_gradient_through_imagination():
    models = fresh_models(CONFIG)
    posterior = Latent(*random_latent(CONFIG, 0, 1, 4))
    is_terminal = jnp.zeros((1, 4), bool)
    loss = lambda selection: selection_loss(selection, models, posterior, is_terminal, jax.random.key(0), CONFIG)  # noqa: E731
    gradient = jax.jit(jax.grad(loss))(models.selection)
    assert all(largest(leaf) > 0 for leaf in jax.tree.leaves(gradient))
    # Of nothing else: where neither reward nor value tells states apart, there is none.
    heads = lambda m: (m.world_model.reward, m.value)  # noqa: E731
    models = eqx.tree_at(heads, models, jax.tree.map(jnp.zeros_like, heads(models)))
    assert largest(jax.jit(jax.grad(loss))(models.selection)) == 0


def test_states_in_which_the_episode_ended_teach_it_nothing():
    config = small("amortized-skills", skill={"duration": 2}, planner={"skill_noise": 0.0})
    models, posterior = fresh_models(config), random_latent(config, 0, 2, 4)
    is_terminal = jnp.zeros((2, 4), bool).at[1, 2].set(True)

    @jax.jit
    def loss(posterior):
        return selection_loss(models.selection, models, posterior, is_terminal, jax.random.key(0), config)

    # Skills begin at steps 0 and 2; the third state of the second sequence is an end.
    before = loss(posterior)
    for row, step, counts in ((1, 2, False), (0, 2, True), (1, 0, True)):
        changed = jax.tree.map(lambda x, at=(row, step): x.at[at].add(1.0), posterior)
        assert (loss(changed) != before) == counts
