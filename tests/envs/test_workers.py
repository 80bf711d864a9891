"""Environments in processes of their own: the same bits, and their own traceback when they fail."""

import functools
import os
import signal

import numpy as np
import pytest

from envs import fragile
from skillplan import envs
from skillplan.envs.workers import WorkerEnvironment, WorkerError, begin
from skillplan.errors import UserError


@pytest.fixture
def worker(request):
    """Ends the process whatever happens."""
    made = []

    def make(function):
        made.append(WorkerEnvironment(function))
        return made[-1]

    yield make
    for environment in made:
        environment.close()
        assert not environment._process.is_alive()


def test_a_world_in_another_process_gives_the_same_bits(worker):
    make = functools.partial(envs.make, "rover-field")
    there, here = worker(make), make()
    assert there.spec == here.spec
    draw = np.random.default_rng(0)
    assert there.reset(4, open_start=True).record["yaw"] == 0
    theirs, ours = there.reset(3), here.reset(3)
    for _ in range(20):
        np.testing.assert_array_equal(theirs.observation, ours.observation)
        action = draw.uniform(-1, 1, 2)
        answer = begin(there, "step", action)  # asked, not waited for
        ours, theirs = here.step(action), answer()
        assert theirs.reward == ours.reward
        np.testing.assert_array_equal(theirs.record["position"], ours.record["position"])
    np.testing.assert_array_equal(there.render(), here.render())


def test_a_failure_brings_its_own_traceback(worker, monkeypatch, tmp_path):
    (tmp_path / "fail").touch()
    monkeypatch.setenv(fragile.FAILS_IF, str(tmp_path / "fail"))
    environment = worker(fragile.make)
    environment.reset(0)
    for _ in range(14):
        environment.step(np.zeros(1))
    with pytest.raises(WorkerError) as caught:
        environment.step(np.zeros(1))
    text = str(caught.value)
    assert 'fragile.py", line' in text
    assert "ZeroDivisionError: the wheel came off" in text
    with pytest.raises(WorkerError, match="died"):
        environment.step(np.zeros(1))


def test_a_failure_to_begin_brings_its_own_traceback():
    with pytest.raises(WorkerError, match="LookupError: nothing to make"):
        WorkerEnvironment(fragile.make_none)


def test_a_mistake_stays_one_sentence():
    with pytest.raises(UserError, match="Unknown task 'rover-feild': did you mean 'rover-field'"):
        WorkerEnvironment(functools.partial(envs.make, "rover-feild"))


def test_a_process_that_is_killed_is_noticed(worker):
    environment = worker(fragile.make)
    environment.reset(0)
    os.kill(environment._process.pid, signal.SIGKILL)
    with pytest.raises(WorkerError, match=r"died without a word \(exit code -9\)"):
        environment.step(np.zeros(1))
