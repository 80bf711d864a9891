import dataclasses
import shutil
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from skillplan.algorithm import make_learner
from skillplan.envs.interface import EnvSpec
from skillplan.errors import UserError
from skillplan.training.checkpoint import Checkpoints, named_arrays, state_sha256
from skillplan.training.counters import Counters
from skillplan.training.restore import load_run
from training.conftest import debug_config

SPEC = EnvSpec("rover-field", ("all",), (5,), (5,), False, 2, 1, 300, False)


@pytest.fixture(scope="module")
def state():
    return make_learner(debug_config(), SPEC, jax.random.key(0))


def test_what_is_restored_is_what_was_saved(state, tmp_path):
    checkpoints = Checkpoints(tmp_path / "checkpoints")
    counters = Counters(frames=7, agent_steps=6, updates=5, episodes=4, seconds=1.5)
    checkpoints.save(state, counters)
    restored, restored_counters = checkpoints.restore(jax.eval_shape(lambda: state))
    assert restored_counters == counters
    assert state_sha256(restored) == state_sha256(state)
    assert jax.tree.structure(restored) == jax.tree.structure(state)


def test_the_digest_covers_every_array(state):
    leaves, structure = jax.tree.flatten(state)
    digests = {state_sha256(state)}
    for i, leaf in enumerate(leaves):
        changed = np.array(leaf)
        flat = changed.reshape(-1).view(np.uint8)
        flat[-1] ^= 1
        digests.add(state_sha256(jax.tree.unflatten(structure, [*leaves[:i], jnp.asarray(changed), *leaves[i + 1 :]])))
    assert len(digests) == len(leaves) + 1


def test_names_are_unique_and_speak(state):
    names = named_arrays(state)
    assert len(names) == len(jax.tree.leaves(state))
    assert "models.world_model.rssm.memory.input_weight" in names


def test_only_the_newest_two_are_kept(state, tmp_path):
    checkpoints = Checkpoints(tmp_path / "checkpoints")
    for episodes in (1, 2, 10):
        checkpoints.save(state, Counters(episodes=episodes))
    assert sorted(path.name for path in (tmp_path / "checkpoints").iterdir()) == ["10", "2"]
    assert checkpoints.newest() == 10


def test_a_full_disk_leaves_the_checkpoints_there_are(state, tmp_path, monkeypatch):
    checkpoints = Checkpoints(tmp_path / "checkpoints")
    checkpoints.save(state, Counters(episodes=1))
    numbers = sum(leaf.nbytes for leaf in jax.tree.leaves(state))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=numbers))
    for episodes in (1, 2):
        with pytest.raises(OSError, match="No space left on device"):
            checkpoints.save(state, Counters(episodes=episodes))
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["1"]
    checkpoints.restore(jax.eval_shape(lambda: state))


def test_a_checkpoint_of_the_same_episode_is_replaced(state, tmp_path):
    checkpoints = Checkpoints(tmp_path / "checkpoints")
    checkpoints.save(state, Counters(episodes=3, frames=1))
    checkpoints.save(state, Counters(episodes=3, frames=2))
    assert checkpoints.restore(state)[1].frames == 2


def test_a_damaged_checkpoint_is_named_and_the_one_before_serves(finished, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(finished, run)
    newest = run / "checkpoints" / "4"
    for path in newest.rglob("*"):
        if path.is_file():
            path.write_bytes(b"")
    with pytest.raises(UserError, match=r"checkpoints/4 is damaged.*delete that directory"):
        load_run(run)
    shutil.rmtree(newest)
    assert load_run(run).counters.episodes == 2


def test_a_checkpoint_of_other_shapes_is_refused(state, tmp_path):
    checkpoints = Checkpoints(tmp_path / "checkpoints")
    checkpoints.save(state, Counters(episodes=1))
    other = make_learner(debug_config(policy={"units": 9}), SPEC, jax.random.key(0))
    with pytest.raises(UserError, match="does not fit the configuration"):
        checkpoints.restore(other)


def test_no_checkpoint_yet(state, tmp_path):
    with pytest.raises(UserError, match="no checkpoint yet"):
        Checkpoints(tmp_path / "checkpoints").restore(state)


def test_counters_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Counters().frames = 3  # pyright: ignore[reportAttributeAccessIssue]
