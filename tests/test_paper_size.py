"""The paper's own numbers, planning from every state: too slow to learn with here, but it must run."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from skillplan.algorithm import make_learner, make_updates
from skillplan.envs import make
from skillplan.presets import make_config
from skillplan.replay.store import ReplayStore
from skillplan.training.rollout import RandomPlayer, rollout

UPDATES = 50


@pytest.mark.slow
def test_fifty_updates_at_the_papers_size_are_finite():
    config = make_config("rover-field", "lsp", "paper", {"training": {"updates_per_call": 1}})
    assert config.planner.starts == "all"
    assert (config.training.batch_size, config.training.sequence_length) == (50, 50)
    assert config.behavior.start_sequences is None
    world = make("rover-field")
    store = ReplayStore(world.spec, 10_000)
    for seed in range(config.training.seed_episodes):
        player = RandomPlayer(world.spec.action_size, [np.random.default_rng(seed)])
        store.add(*rollout([world], [seed], player))
    world.close()
    state = make_learner(config, world.spec, jax.random.key(0))
    updates = make_updates(config)
    for number in range(UPDATES):
        batches = store.sample_many([np.random.default_rng(number)], 50, 50)
        state, metrics = updates(state, batches, jnp.asarray(1, jnp.int32), jax.random.key(1))
        broken = {name: float(value) for name, value in metrics.items() if not np.isfinite(value)}
        assert not broken, f"update {number}"
        assert {"world_model/loss", "policy/loss", "value/loss", "skill/log_q"} <= set(metrics)
    assert int(state.updates) == UPDATES
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(state.models))
