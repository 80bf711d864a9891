import numpy as np
import pytest

from skillplan.envs.interface import Step
from skillplan.replay.builder import EpisodeBuilder


def _step(number: int, frames: int = 2, *, is_last: bool = False, is_terminal: bool = False) -> Step:
    return Step(
        observation=np.full(4, number, np.float32),
        reward=-float(number),
        frames=frames,
        is_last=is_last,
        is_terminal=is_terminal,
        record={"position": np.full((2, 3), number, np.float32)},
    )


def _skill(number: int) -> np.ndarray:
    return np.full(3, number, np.float32)


def test_index_t_holds_the_action_and_the_skill_that_led_to_it() -> None:
    builder = EpisodeBuilder(_step(0, frames=0))
    for number in (1, 2, 3):
        over = number == 3
        step = _step(number, frames=1 if over else 2, is_last=over, is_terminal=over)
        builder.add(np.full(2, number / 10), step, skill=_skill(number))
    episode = builder.build()
    np.testing.assert_array_equal(episode.observation[:, 0], [0, 1, 2, 3])
    np.testing.assert_array_equal(episode.action[:, 0], np.array([0, 0.1, 0.2, 0.3], np.float32))
    np.testing.assert_array_equal(episode.reward, [0, -1, -2, -3])
    np.testing.assert_array_equal(episode.is_first, [True, False, False, False])
    np.testing.assert_array_equal(episode.is_terminal, [False, False, False, True])
    np.testing.assert_array_equal(episode.record["skill"][:, 0], [0, 1, 2, 3])
    assert episode.record["position"].shape == (4, 2, 3)
    assert episode.frames == builder.frames == 5
    assert episode.action.dtype == episode.reward.dtype == np.float32


def test_an_episode_that_a_time_limit_ended_is_not_terminal() -> None:
    builder = EpisodeBuilder(_step(0, frames=0))
    builder.add(np.zeros(2), _step(1, is_last=True))
    assert not builder.build().is_terminal.any()


def test_an_environment_may_reuse_its_arrays() -> None:
    observation, position = np.zeros(4, np.float32), np.zeros((2, 3), np.float32)
    reset = Step(observation, 0.0, 0, False, False, {"position": position})
    builder = EpisodeBuilder(reset)
    for number in (1, 2):
        action, skill = np.full(2, number / 10, np.float32), _skill(number)
        observation[:], position[:] = number, number
        builder.add(action, reset._replace(frames=2), skill=skill)
        action[:], skill[:] = 9, 9
    episode = builder.build()
    np.testing.assert_array_equal(episode.observation[:, 0], [0, 1, 2])
    np.testing.assert_array_equal(episode.record["position"][:, 0, 0], [0, 1, 2])
    np.testing.assert_array_equal(episode.action[:, 0], np.array([0, 0.1, 0.2], np.float32))
    np.testing.assert_array_equal(episode.record["skill"][:, 0], [0, 1, 2])


def test_stepping_on_after_the_end_is_an_error() -> None:
    builder = EpisodeBuilder(_step(0, frames=0))
    builder.add(np.zeros(2), _step(1, is_last=True))
    with pytest.raises(ValueError, match="ended after 1 steps"):
        builder.add(np.zeros(2), _step(2))


def test_every_step_brings_the_same_records() -> None:
    builder = EpisodeBuilder(_step(0, frames=0))
    with pytest.raises(ValueError, match="recorded values"):
        builder.add(np.zeros(2), _step(1)._replace(record={}))
    builder.add(np.zeros(2), _step(1), skill=_skill(1))
    with pytest.raises(ValueError, match="extra values"):
        builder.add(np.zeros(2), _step(2))


def test_an_extra_cannot_hide_what_the_environment_recorded() -> None:
    builder = EpisodeBuilder(_step(0, frames=0))
    with pytest.raises(ValueError, match="extra values"):
        builder.add(np.zeros(2), _step(1), position=_skill(1))


def test_a_reset_alone_is_no_episode() -> None:
    with pytest.raises(ValueError, match="at least one step"):
        EpisodeBuilder(_step(0, frames=0)).build()
