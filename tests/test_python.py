import numpy as np
import pytest

import skillplan
from skillplan.errors import UserError


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("python") / "run"
    return skillplan.train("rover-field", size="debug", run=path, frames=600)


def test_a_loaded_agent_acts_as_evaluation_does(run):
    agent = skillplan.load(run)
    world = skillplan.make(agent)
    returns = []
    for episode in range(2):
        step, total = world.reset(seed=episode), 0.0
        agent.reset()
        while not step.is_last:
            action = agent.act(step.observation)
            assert action.shape == (2,)
            assert np.abs(action).max() <= 1
            step = world.step(action)
            total += step.reward
        returns.append(total)
    assert np.isfinite(returns).all()
    assert agent.skill.shape == (3,)
    world.close()


def test_the_same_seed_acts_the_same(run):
    observation = np.linspace(-1, 1, 21, dtype=np.float32)
    actions = [skillplan.load(run, seed=4).act(observation) for _ in range(2)]
    assert np.array_equal(*actions)


def test_loading_nothing_is_explained(tmp_path):
    with pytest.raises(UserError, match="There is no run at"):
        skillplan.load(tmp_path / "nothing")


def test_wrong_observations_are_explained(run):
    agent = skillplan.load(run)
    with pytest.raises(UserError, match=r"shape \(3,\)"):
        agent.act(np.zeros(3))
    with pytest.raises(UserError, match="lacks velocity"):
        agent.act({"rays": np.zeros(12), "yaw_rate": np.zeros(1), "heading": np.zeros(2)})
