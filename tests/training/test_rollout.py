import numpy as np
import pytest

from skillplan.envs.interface import EnvSpec, Step
from skillplan.training.rollout import RandomPlayer, rollout


class Counting:
    """Observes how many steps have passed and which actions were taken; ends after `length` steps."""

    def __init__(self, length: int):
        self.length, self.time = length, 0
        self.spec = EnvSpec("counting", ("time", "action"), (1, 1), (2,), False, 1, 2, 2 * length, True)

    def _step(self, action: float, reward: float) -> Step:
        over = self.time == self.length
        observation = np.array([self.time, action], np.float32)
        frames = 2 if self.time else 0
        return Step(observation, reward, frames, over, over, {"position": np.full((2, 1), self.time, np.float32)})

    def reset(self, seed: int, *, open_start: bool = False) -> Step:
        self.time = 0
        return self._step(0.0, 0.0)

    def step(self, action: np.ndarray) -> Step:
        if self.time == self.length:
            raise RuntimeError("stepped after its end")
        self.time += 1
        return self._step(float(action[0]), 10.0 * self.time)

    def render(self) -> np.ndarray:
        return np.zeros((1, 1, 3), np.uint8)

    def close(self) -> None: ...


class Echo:
    """Acts on the time it sees, and remembers where episodes began."""

    def __init__(self):
        self.firsts: list[list[bool]] = []

    def act(self, observation, is_first):
        self.firsts.append(is_first.tolist())
        action = observation[:, :1] / 100
        return action.astype(np.float32), {"skill": observation[:, :1] + 7}


def test_actions_rewards_and_observations_are_aligned():
    player = Echo()
    (episode,) = rollout([Counting(3)], [0], player)
    # Index t: observation t, the action that led to it, the reward that came with it.
    assert episode.observation[:, 0].tolist() == [0, 1, 2, 3]
    assert np.array_equal(episode.observation[:, 1], episode.action[:, 0])
    assert episode.action[:, 0] == pytest.approx([0, 0, 0.01, 0.02])
    assert episode.reward.tolist() == [0, 10, 20, 30]
    assert episode.is_terminal.tolist() == [False, False, False, True]
    assert episode.record["skill"][:, 0].tolist() == [0, 7, 8, 9]
    assert episode.frames == 6
    assert player.firsts == [[True], [False], [False]]


def test_episodes_that_end_early_wait_for_the_others():
    short, long = rollout([Counting(2), Counting(5)], [0, 0], Echo())
    assert (short.length, long.length) == (3, 6)


def test_a_limit_on_steps():
    (episode,) = rollout([Counting(9)], [0], Echo(), steps=4)
    assert episode.length == 5
    assert not episode.is_terminal.any()


def test_random_actions_are_uniform_in_the_box():
    draws = [np.random.default_rng([0, i]) for i in range(5000)]
    actions, record = RandomPlayer(3, draws).act(np.zeros((5000, 1)), np.zeros(5000, bool))
    assert actions.shape == (5000, 3)
    assert record == {}
    assert np.abs(actions).max() <= 1
    assert actions.mean() == pytest.approx(0, abs=0.02)
    assert actions.var() == pytest.approx(1 / 3, abs=0.01)
