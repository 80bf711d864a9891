"""Plans thought again: they are those that were acted on, and what is drawn of them."""

import numpy as np
import pytest

from reporting.made import fresh_run, store
from skillplan.cli.main import main
from skillplan.errors import UserError
from skillplan.reporting import plan, plan_panels
from skillplan.reporting.skill_space import Projection, projection
from skillplan.training.evaluate import Evaluator
from small import quick_compilation  # noqa: F401


@pytest.fixture(scope="module")
def loaded():
    return fresh_run()


@pytest.fixture(scope="module")
def plans(loaded):
    return plan.gather(loaded, episode=2)


def test_plans_are_those_that_were_acted_on(loaded, plans):
    evaluator = Evaluator(loaded.config)
    (played,) = evaluator.episodes(loaded.state.models, 1, first=2)
    evaluator.close()
    assert [thought.step for thought in plans.thoughts] == [0, 10, 20, 30]
    for thought in plans.thoughts:
        np.testing.assert_allclose(thought.mean[-1], played.record["skill"][thought.step + 1], atol=1e-5)
    np.testing.assert_array_equal(plans.reward, played.reward)


def test_a_distribution_is_fitted_to_the_plans_that_count(loaded, plans):
    elites = loaded.config.planner.elites
    for thought in plans.thoughts:
        for iteration, (skills, scores, weights) in enumerate(
            zip(thought.skills, thought.scores, thought.weights, strict=True)
        ):
            assert sorted(np.flatnonzero(weights)) == sorted(np.argsort(scores)[-elites:])
            np.testing.assert_allclose(thought.mean[iteration + 1], skills[weights > 0].mean(axis=0), atol=1e-5)


def test_moments_are_those_at_which_plans_are_made(loaded):
    # Refused before anything is played.
    for at, complaint in (([5], "--at 5 is no step"), ([40], "--at 40 is after the end"), ([-10], "--at -10")):
        with pytest.raises(UserError, match=complaint):
            plan._moments(loaded.config, 40, at, 100)
    assert plan._moments(loaded.config, 40, None, 25) == [0, 10, 20]
    assert plan._moments(loaded.config, 1000, None, 1000)[-1] == 990
    assert len(plan._moments(loaded.config, 1000, None, 1000)) == plan.MOST_MOMENTS


def test_an_agent_that_does_not_plan_is_told_so():
    with pytest.raises(UserError, match="dreamer, does not plan"):
        plan.gather(fresh_run("dreamer"))


def test_the_figure_shows_populations_and_what_came_of_the_plan(plans):
    titles = [axes.get_title() for part in plan.draw(plans, moments=2).subfigs for axes in part.axes]
    assert titles.count("iteration 1") == titles.count("iteration 2") == 2
    first = plans.thoughts[0]
    sums = first.imagined_rewards[:, :10].sum(axis=1)
    came = plans.reward[1:11].sum()
    assert f"reward in 10 steps: imagined {sums.mean():.2f} ± {sums.std():.2f}, came {came:.2f}" in titles


def test_the_film_shows_every_iteration_and_every_step(plans):
    one = plans._replace(thoughts=plans.thoughts[:1])
    pictures = list(plan_panels.film(one))
    iterations = len(one.thoughts[0].scores)
    assert len(pictures) == iterations * plan_panels.ITERATION_FRAMES + 10
    assert {picture.shape for picture in pictures} == {(500, 900, 3)}


def test_skills_of_many_numbers_are_seen_along_their_principal_axes():
    draws = np.random.default_rng(0)
    long, wide = np.array([0.6, 0.8, 0.0]), np.array([0.0, 0.0, -1.0])
    tried = 5 * draws.normal(size=(200, 1)) * long + 2 * draws.normal(size=(200, 1)) * wide
    seen = projection(tried)
    assert abs(seen.directions[:, 0] @ long) == pytest.approx(1.0, abs=1e-2)
    assert abs(seen.directions[:, 1] @ wide) == pytest.approx(1.0, abs=1e-2)
    assert projection(tried[:, :2]).labels == ("z 1", "z 2")


def test_the_ellipse_is_one_standard_deviation():
    plain = Projection(np.eye(2), ("", ""))
    assert plain.ellipse(np.array([3.0, 1.0])) == pytest.approx((6.0, 2.0, 0.0))
    width, height, angle = plain.ellipse(np.array([1.0, 3.0]))
    assert (width, height) == pytest.approx((6.0, 2.0))
    assert abs(angle) == pytest.approx(90.0)
    # Seen along the diagonal of a cube, equal deviations stay equal.
    diagonal = Projection(np.linalg.qr(np.ones((3, 1)), mode="complete")[0][:, :2], ("", ""))
    assert diagonal.ellipse(np.full(3, 2.0))[:2] == pytest.approx((4.0, 4.0))


def test_the_command_draws_plans_and_predictions(tmp_path, capsys):
    run = store(fresh_run(), tmp_path / "run")
    assert main(["plan", str(run), "--at", "0", "10", "--film", "none"]) == 0
    said = capsys.readouterr().out
    assert ": 2 plans." in said
    assert "Foreseen from actions alone: error over" in said
    assert sorted(path.name for path in (run / "figures").iterdir()) == ["open-loop.png", "plan.png"]


def test_of_an_agent_that_does_not_plan_the_command_shows_the_world_model(tmp_path, capsys):
    run = store(fresh_run("dreamer"), tmp_path / "run")
    assert main(["plan", str(run), "--out", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().err == "skillplan: dreamer does not plan; its world model alone is shown.\n"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["open-loop.png"]
