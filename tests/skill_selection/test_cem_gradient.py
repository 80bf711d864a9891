"""Refining elites by gradient steps: never worse, and better than plain CEM on a quadratic."""

import jax
import jax.numpy as jnp
import numpy as np

from skillplan.skill_selection import make_selection
from skillplan.skill_selection.cem_gradient import refine
from small import ACTION, quick_compilation, small  # noqa: F401

TARGET = jnp.array([[0.7, -1.2, 0.3]])


def quadratic(plan, key):
    return -1000 - jnp.sum(jnp.square(plan - TARGET))


def judge(plan, member):
    return quadratic(plan, member)


def refined(judge, plan, steps=3, step_size=0.1):
    member = jnp.int32(0)
    return refine(judge, plan, judge(plan, member), member, steps=steps, step_size=step_size)


def test_steps_go_straight_up_a_quadratic_and_have_the_given_length():
    plan = TARGET + jnp.array([[3.0, 0.0, 4.0]])
    np.testing.assert_allclose(refined(judge, plan), plan - 0.3 * jnp.array([[0.6, 0.0, 0.8]]), atol=1e-5)


def test_a_step_too_long_is_not_taken():
    plan = TARGET + 0.01
    np.testing.assert_array_equal(refined(judge, plan, step_size=1.0), plan)


def test_what_is_not_finite_improves_nothing():
    plan = TARGET + 1.0
    cliff = lambda plan, member: jnp.where(plan[0, 0] < 1.6, jnp.inf, judge(plan, member))  # noqa: E731
    assert (refined(cliff, plan)[0, 0] >= 1.6).all()
    np.testing.assert_array_equal(refined(lambda plan, member: jnp.nan * plan[0, 0], plan), plan)


def test_each_elite_is_judged_under_its_own_draws():
    # A plan's score depends on its draws; the refined one must use those that made it an elite.
    def noisy(plan, key):
        return -jnp.sum(jnp.square(plan - jax.random.normal(key, plan.shape)))

    config = small("cem-gradient", planner={"population": 8, "elites": 8, "iterations": 1, "gradient_steps": 60})
    found = make_selection(config, ACTION, jax.random.key(0)).select(noisy, jnp.zeros(12), jax.random.key(0))
    _, score_key = jax.random.split(jax.random.fold_in(jax.random.key(0), 0))
    targets = jnp.stack([jax.random.normal(key, (1, 3)) for key in jax.random.split(score_key, 8)])
    np.testing.assert_allclose(found.mean, targets.mean(0), atol=0.1)
    np.testing.assert_allclose(found.std, targets.std(0), atol=0.1)


def test_it_comes_nearer_than_plain_cem_with_the_same_population():
    def errors(agent):
        config = small(agent, planner={"population": 16, "elites": 4, "iterations": 4})
        selection = make_selection(config, ACTION, jax.random.key(0))
        search = jax.jit(jax.vmap(lambda key: selection.select(quadratic, jnp.zeros(12), key).mean))
        means = search(jax.random.split(jax.random.key(0), 50))
        return float(jnp.mean(jnp.linalg.norm((means - TARGET[None])[:, 0], axis=-1)))

    plain, refined = errors("lsp"), errors("cem-gradient")
    assert refined < 0.7 * plain
