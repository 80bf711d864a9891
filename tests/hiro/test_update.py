"""One update of HIRO: what learns from what, when, and that it may be cut anywhere."""

import dataclasses
from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hiro.probes import hiro_config, windows
from skillplan.hiro import learner as hiro_learner
from skillplan.hiro import update as hiro_update
from skillplan.hiro.learner import HiroLearner
from skillplan.hiro.models import HiroState
from small import OBSERVATION, SPEC, assert_trees_equal, differ, quick_compilation  # noqa: F401

CALL, BATCH = 5, 6


class Learned(NamedTuple):
    """Five updates of one configuration."""

    config: object
    updates: object
    before: HiroState
    after: HiroState
    metrics: dict
    traces: list


def batches(config, first=0, **changes):
    """Five batches of segments, from number `first` on."""
    size = OBSERVATION if config.hiro.goal == "state" else 3
    batch = windows(0, CALL, BATCH, goal=size)._replace(**changes)
    return jax.tree.map(lambda x: jnp.roll(x, -first, axis=0), batch)


def run(learned, state, count, first=0, **changes):
    """Some updates on batches from number `first` on."""
    data = batches(learned.config, first, **changes)
    return learned.updates(jax.tree.map(jnp.copy, state), data, jnp.int32(count), jax.random.key(7))


@cache
def learn(config):
    traces, make_update = [], hiro_update.make_update

    def counting(config):
        update = make_update(config)

        def counted(state, batch, key):
            traces.append(None)
            return update(state, batch, key)

        return counted

    learner = HiroLearner(config)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hiro_learner, "make_update", counting)
        before = learner.initial(SPEC, jax.random.key(0))
        learned = Learned(config, learner.make_updates(), before, before, {}, traces)
        after, metrics = run(learned, before, CALL)
    return learned._replace(after=after, metrics=metrics)


def config_of(**overrides):
    training = {"batch_size": BATCH, "updates_per_call": CALL} | overrides.pop("training", {})
    return hiro_config(training=training, **overrides)


@pytest.mark.parametrize("goal", ["skill", "state"])
def test_five_updates_change_every_array_and_stay_finite(goal):
    learned = learn(config_of(hiro={"goal": goal}))
    assert learned.after.updates == CALL
    assert all(np.isfinite(value) for value in learned.metrics.values())
    parts = lambda state: jax.tree.leaves((state.low, state.high, state.goal, state.high_metrics))  # noqa: E731
    for old, new in zip(parts(learned.before), parts(learned.after), strict=True):
        assert np.isfinite(new).all()
        assert (old != new).any()
    assert ("skill/log_q" in learned.metrics) == (goal == "skill")
    assert ("predictor/gradient_norm" in learned.metrics) == (goal == "skill")


def test_the_count_is_no_reason_to_trace_anew():
    learned = learn(config_of())
    traced = len(learned.traces)
    assert traced > 0
    for count in (1, 3, CALL):
        run(learned, learned.before, count)
    assert len(learned.traces) == traced
    assert learned.updates._cache_size() == 1


def test_updates_may_be_cut_anywhere():
    learned = learn(config_of())
    state = learned.before
    for i in range(CALL):
        state, _ = run(learned, state, 1, first=i)
    assert_trees_equal(state, learned.after)


def test_the_high_level_learns_in_every_second_update_and_its_policy_in_every_fourth():
    # `high_level_every` is 2 at this size, `policy_delay` 2 everywhere: updates 1, 3 and 5; the policy in update 3.
    learned = learn(config_of())
    states, metrics = [learned.before], []
    for i in range(CALL):
        state, found = run(learned, states[-1], 1, first=i)
        states.append(state)
        metrics.append(found)
    changes = lambda part: [differ(part(a), part(b)) for a, b in zip(states[:-1], states[1:], strict=True)]  # noqa: E731
    assert changes(lambda s: s.high.learned.critic) == [True, False, True, False, True]
    assert changes(lambda s: s.high.learned.actor) == [False, False, True, False, False]
    assert changes(lambda s: s.low.learned.critic) == [True] * 5
    assert changes(lambda s: s.low.learned.actor) == [False, True, False, True, False]
    assert changes(lambda s: s.goal) == [True] * 5
    assert int(states[-1].high.updates) == 3
    # In between the newest numbers stand.
    for name in ("high_level/critic_loss", "high_level/reward", "high_level/corrected"):
        assert metrics[1][name] == metrics[0][name]
        assert metrics[3][name] == metrics[2][name]
    assert metrics[2]["high_level/critic_loss"] != metrics[0]["high_level/critic_loss"]


def test_the_world_pays_the_high_level_and_the_skills_the_low_level():
    learned = learn(config_of())
    paid = run(learned, learned.before, CALL, reward=jnp.ones((CALL, BATCH, 5)))[0]
    assert_trees_equal(paid.low, learned.after.low)
    assert_trees_equal(paid.goal, learned.after.goal)
    assert differ(paid.high.learned.critic, learned.after.high.learned.critic)
    unpaid = learn(config_of(discovery={"intrinsic_scale": 0.0})).after
    assert differ(unpaid.low.learned.critic, learned.after.low.learned.critic)
    assert_trees_equal(unpaid.goal, learned.after.goal)


@pytest.mark.parametrize(("part", "field"), [("policy", "low"), ("selection", "high"), ("predictor", "goal")])
def test_a_frozen_part_stays_bit_for_bit_and_the_others_learn(part, field):
    learned = learn(config_of(training={"frozen": (part,)}))
    for name in ("low", "high", "goal"):
        before, after = getattr(learned.before, name), getattr(learned.after, name)
        if name == field:
            assert_trees_equal(before, after)
        else:
            assert differ(before, after)


def test_no_updates_change_nothing():
    learned = learn(config_of())
    assert_trees_equal(run(learned, learned.before, 0)[0], learned.before)


def test_the_share_of_corrected_goals_is_logged():
    learned = learn(config_of())
    indifferent = dataclasses.replace(learned.before, low=jax.tree.map(jnp.zeros_like, learned.before.low))
    given = batches(learned.config).action
    # Where the low level does the same for every goal, the first candidate wins: the one that was given …
    share = lambda action: float(run(learned, indifferent, 1, action=action)[1]["high_level/corrected"])  # noqa: E731
    assert share(given.at[..., 2:].set(2.5)) == 0
    # … within bounds.
    assert share(given.at[..., 2:].set(3.5)) == 1
