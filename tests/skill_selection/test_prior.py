"""Random skills stay random, in evaluation too."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from skillplan.skill_selection import make_selection
from small import ACTION, small


@pytest.mark.parametrize(("imagined", "plans"), [(10, 1), (20, 2), (25, 3)])
def test_imagination_gets_a_skill_for_every_k_steps(imagined, plans):
    selection = make_selection(
        small("random-skills", behavior={"imagination_length": imagined}), ACTION, jax.random.key(0)
    )
    plan = selection.sample(selection.select(no_score, jnp.zeros(12), jax.random.key(0)), jax.random.key(1))
    assert plan.shape == (plans, 3)
    assert len(np.unique(plan)) == 3 * plans


def no_score(plan, key):
    raise AssertionError("random skills are not judged")


def test_skills_are_standard_normal_and_random_even_without_exploration():
    # The planner's noise is for planned skills: here it would make the variance larger than one.
    selection = make_selection(small("random-skills", planner={"skill_noise": 5.0}), ACTION, jax.random.key(0))
    distribution = selection.select(no_score, jnp.zeros(12), jax.random.key(0))
    np.testing.assert_array_equal(distribution.mean, np.zeros((1, 3)))
    np.testing.assert_array_equal(distribution.std, np.ones((1, 3)))
    for explore in (0.0, 1.0):
        keys = jax.random.split(jax.random.key(1), 4000)
        skills = jax.jit(jax.vmap(lambda key, e=explore: selection.decide(distribution, key, jnp.float32(e))))(keys)
        np.testing.assert_allclose(skills.mean(0), np.zeros(3), atol=0.06)
        np.testing.assert_allclose(np.cov(skills.T), np.eye(3), atol=0.08)
