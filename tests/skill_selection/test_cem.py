"""The cross-entropy method on functions with a known optimum, and what it makes of scores that are no numbers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from skillplan.config import SEARCHING
from skillplan.skill_selection import SELECTIONS, cem, make_selection
from skillplan.skill_selection.cem import cross_entropy_method, refit
from skillplan.skill_selection.plan_shape import plan_length
from skillplan.skill_selection.prior import standard_normal
from skillplan.skill_selection.watched import Watched
from skillplan.types import SkillDistribution
from small import ACTION, quick_compilation, small  # noqa: F401

TARGETS = jnp.array([[0.7, -1.2, 0.3], [-0.5, 0.1, 1.0], [1.1, 0.9, -0.4]])


def search(score, plans=1, key=0, *, size=3, iterations=10, population=64, elites=8, common_noise=False):
    @jax.jit
    def run(key):
        return cross_entropy_method(
            score,
            standard_normal(plans, size),
            key,
            population=population,
            elites=elites,
            iterations=iterations,
            common_noise=common_noise,
        )

    return run(jax.random.key(key))[0]


@pytest.mark.parametrize("plans", [1, 3])
@pytest.mark.parametrize("offset", [0.0, -1000.0])
def test_it_finds_the_optimum_of_a_quadratic(plans, offset):
    # Minus a thousand: the best of bad plans is still the best.
    score = lambda plan, key: offset - jnp.sum(jnp.square(plan - TARGETS[:plans]))  # noqa: E731
    found = search(score, plans)
    np.testing.assert_allclose(found.mean, TARGETS[:plans], atol=0.15)
    assert found.std.max() < 0.3


@pytest.mark.parametrize("bad", [jnp.nan, jnp.inf, -jnp.inf])
def test_a_plan_whose_score_is_not_finite_is_never_an_elite(bad):
    # What is not finite lies where the score would be best.
    score = lambda plan, key: jnp.where(plan[0, 0] > 0.5, bad, plan[0, 0] - 1000)  # noqa: E731
    found = search(score)
    assert 0.2 < found.mean[0, 0] <= 0.5


def test_where_no_score_is_finite_nothing_is_learned():
    found = search(lambda plan, key: jnp.nan * plan[0, 0], plans=2)
    np.testing.assert_array_equal(found.mean, np.zeros((2, 3)))
    np.testing.assert_array_equal(found.std, np.ones((2, 3)))


@pytest.fixture
def plans():
    return np.random.default_rng(0).normal(size=(6, 2, 3)).astype(np.float32)


def refitted(plans, scores, elites):
    before = SkillDistribution(jnp.full((2, 3), 7.0), jnp.full((2, 3), 9.0))
    return refit(before, jnp.asarray(plans), jnp.array(scores), elites)


@pytest.mark.parametrize(
    ("scores", "best"),
    [
        ([-5.0, -1.0, -9.0, -2.0, -3.0, -8.0], [1, 3, 4]),
        ([jnp.nan, -1.0, jnp.inf, -2.0, -3.0, -jnp.inf], [1, 3, 4]),
        ([jnp.nan, -1.0, jnp.nan, -2.0, jnp.nan, jnp.nan], [1, 3]),  # fewer elites
        ([jnp.nan, -1.0, jnp.nan, jnp.inf, jnp.nan, jnp.nan], [1]),
    ],
)
def test_the_elites_give_mean_and_population_deviation(plans, scores, best):
    fitted = refitted(plans, scores, 3)
    np.testing.assert_allclose(fitted.mean, plans[best].mean(0), atol=1e-6)
    np.testing.assert_allclose(fitted.std, plans[best].std(0, ddof=0), atol=1e-6)


def test_without_elites_the_distribution_stays(plans):
    fitted = refitted(plans, [jnp.nan] * 6, 3)
    assert (fitted.mean == 7.0).all()
    assert (fitted.std == 9.0).all()


def shown_scores(monkeypatch, score, key=0, common_noise=False):
    """What a first iteration's eight plans score, through the mean of a plan of eight."""
    monkeypatch.setattr(cem, "refit", lambda before, plans, scores, elites: before._replace(mean=scores[:, None]))
    return search(score, 8, key, size=1, iterations=1, population=8, common_noise=common_noise).mean[:, 0]


@pytest.mark.parametrize(("common_noise", "kinds"), [(True, 1), (False, 8)])
def test_common_noise_gives_every_plan_the_same_draws(monkeypatch, common_noise, kinds):
    draws = shown_scores(monkeypatch, lambda plan, key: jax.random.normal(key), common_noise=common_noise)
    assert len(np.unique(draws)) == kinds


def test_plans_vary_within_a_population_and_between_keys(monkeypatch):
    first = lambda plan, key: plan[0, 0]  # noqa: E731
    one, same, other = (shown_scores(monkeypatch, first, key) for key in (0, 0, 1))
    assert len(np.unique(one)) == 8
    np.testing.assert_array_equal(one, same)
    assert not np.isin(one, other).any()


def test_iterations_draw_anew(monkeypatch):
    # Each iteration's mean is its first plan, drawn around a fixed distribution.
    seen = []
    monkeypatch.setattr(cem, "refit", lambda before, plans, scores, elites: seen.append(plans) or before)
    with jax.disable_jit():
        cross_entropy_method(
            lambda plan, key: plan[0, 0],
            standard_normal(1, 1),
            jax.random.key(0),
            population=4,
            elites=2,
            iterations=3,
            common_noise=True,
        )
    assert len(seen) == 3
    assert len(np.unique(np.concatenate(seen))) == 12


@pytest.mark.parametrize(
    ("horizon", "duration", "length"), [(10, 10, 1), (120, 30, 4), (11, 10, 2), (19, 10, 2), (5, 1, 5)]
)
def test_a_plan_is_as_long_as_its_horizon_asks(horizon, duration, length):
    config = small(planner={"horizon": horizon}, skill={"duration": duration, "segment_length": 1})
    assert plan_length(config) == length
    selection = make_selection(config, ACTION, jax.random.key(0))
    arguments = lambda plan, key: jnp.sum(plan), jnp.zeros(12), jax.random.key(0)
    acted, imagined = selection.select_to_act(*arguments), selection.select(*arguments)
    assert acted.mean.shape == acted.std.shape == (length, 3)
    # While training, a skill is held for a segment: here for one step.
    assert imagined.mean.shape == imagined.std.shape == (horizon, 3)


def test_planning_uses_the_settings():
    config = small(planner={"population": 64, "elites": 8, "iterations": 10})
    selection = make_selection(config, ACTION, jax.random.key(0))
    score = lambda plan, key: -jnp.sum(jnp.square(plan - TARGETS[:1]))  # noqa: E731
    found = selection.select(score, jnp.zeros(12), jax.random.key(0))
    np.testing.assert_allclose(found.mean, TARGETS[:1], atol=0.15)


def test_acting_and_training_each_search_as_hard_as_set():
    planner = {"population": 32, "elites": 6, "iterations": 5}
    training = {"training_population": 8, "training_elites": 3, "training_iterations": 2}
    selection = make_selection(small(planner=planner | training), ACTION, jax.random.key(0))
    score = lambda plan, key: -jnp.sum(jnp.square(plan - TARGETS[:1]))  # noqa: E731
    key = jax.random.key(0)

    def expected(plan_size):
        found, gone_through = cross_entropy_method(score, standard_normal(1, 3), key, common_noise=False, **plan_size)
        return found.mean, gone_through.plans.shape[:2]

    acted, watched = selection.watch_to_act(score, jnp.zeros(12), key)
    mean, tried = expected(planner)
    assert tried == watched.plans.shape[:2] == (5, 32)
    np.testing.assert_array_equal(acted.mean, mean)
    np.testing.assert_array_equal(selection.select_to_act(score, jnp.zeros(12), key).mean, mean)
    assert jnp.sum(selection.weights(watched.scores[0])) == 6
    imagined = selection.select(score, jnp.zeros(12), key).mean
    np.testing.assert_array_equal(imagined, expected({"population": 8, "elites": 3, "iterations": 2})[0])
    assert jnp.any(imagined != mean)


def test_evaluation_takes_the_mean_and_collection_a_noisy_sample():
    selection = make_selection(small(planner={"skill_noise": 2.0}), ACTION, jax.random.key(0))
    distribution = SkillDistribution(jnp.arange(3.0)[None], jnp.full((1, 3), 1.5))
    for key in range(2):
        mean = selection.decide(distribution, jax.random.key(key), jnp.float32(0))
        np.testing.assert_array_equal(mean, distribution.mean[0])
    keys = jax.random.split(jax.random.key(0), 4000)
    samples = jax.jit(jax.vmap(lambda key: selection.decide(distribution, key, jnp.float32(1))))(keys)
    np.testing.assert_allclose(samples.mean(0), np.arange(3), atol=0.15)
    np.testing.assert_allclose(samples.std(0), np.sqrt(1.5**2 + 2.0**2), rtol=0.05)


def test_what_is_said_to_search_is_what_tries_populations():
    assert {name for name, selection in SELECTIONS.items() if issubclass(selection, Watched)} == set(SEARCHING)
