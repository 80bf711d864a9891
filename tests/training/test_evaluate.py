import numpy as np
import pytest

from skillplan.replay.episode import Episode
from skillplan.training.evaluate import Evaluator, spread_of_ends, summarize
from skillplan.training.restore import load_run
from training.conftest import debug_config


def test_spread_of_skills_that_always_end_in_the_same_place():
    ends = np.array([[[0.0, 0.0]] * 4, [[3.0, 4.0]] * 4])
    # Two means 5 apart: the unbiased variance is (2.5² + 2.5²) / 1.
    assert spread_of_ends(ends) == pytest.approx((np.sqrt(12.5), 0.0))


def test_spread_within_a_skill_is_not_taken_for_difference_between_skills():
    rng = np.random.default_rng(0)
    spread = spread_of_ends(rng.normal(size=(4000, 4, 2)))
    assert spread.within == pytest.approx(np.sqrt(2), rel=0.03)
    # Uncorrected, the scatter of means of four would look like sqrt(2 / 4) = 0.7.
    assert spread.across < 0.15


def test_spread_adds_both_sources_correctly():
    rng = np.random.default_rng(1)
    ends = 2.0 * rng.normal(size=(4000, 1, 1)) + 0.5 * rng.normal(size=(4000, 4, 1))
    assert spread_of_ends(ends) == pytest.approx((2.0, 0.5), rel=0.05)


@pytest.fixture(scope="module")
def trained(finished):
    return load_run(finished)


@pytest.fixture(scope="module")
def evaluator(trained):
    evaluator = Evaluator(trained.config)
    yield evaluator
    evaluator.close()


def test_evaluation_repeats_itself(evaluator, trained):
    first, again = (evaluator.episodes(trained.state.models, 2) for _ in range(2))
    for a, b in zip(first, again, strict=True):
        assert np.array_equal(a.action, b.action)
        assert a.reward.sum() == b.reward.sum()


def test_a_later_first_episode_is_the_same_episode(evaluator, trained):
    whole = evaluator.episodes(trained.state.models, 2)
    second = evaluator.episodes(trained.state.models, 1, first=1)[0]
    assert np.array_equal(whole[1].observation[0], second.observation[0])
    assert not np.array_equal(whole[0].observation[0], second.observation[0])


def test_held_skills_share_their_start_and_stay_the_same(evaluator, trained):
    paths = evaluator.held_paths(trained.state.models)
    assert paths.shape == (16, 4, debug_config().evaluation.hold_steps + 1, 2)
    assert np.all(paths[:, :, 0] == paths[0, 0, 0])
    assert evaluator.displacement(trained.state.models) == spread_of_ends(paths[:, :, -1])


def test_summary_of_hand_made_episodes():
    def episode(rewards):
        length = len(rewards) + 1
        return Episode(
            observation=np.zeros((length, 1), np.float32),
            action=np.zeros((length, 1), np.float32),
            reward=np.array([0.0, *rewards], np.float32),
            is_first=np.arange(length) == 0,
            is_terminal=np.zeros(length, bool),
            frames=length - 1,
        )

    summary = summarize([episode([1, 2]), episode([5, 0, 0, 0])])
    assert summary == {"evaluation/return": 4.0, "evaluation/return_std": 1.0, "evaluation/length": 3.0}
